//! `commit`.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::{
    ChangeCondition, ChangeOperation, StateChange, StateError, StateSpace,
    error::ConnectionError,
    limits,
    read::snapshot,
    row::{self, StoreMeta},
    sweep,
};

/// An entry that a change finds under its key.
#[derive(Debug, Clone, Copy)]
pub struct OldEntry {
    /// Its version.
    pub version: u64,
    /// Bytes that it counts for the quota.
    pub size: u64,
    /// True if it has expired, and is not removed yet.
    pub expired: bool,
}

impl OldEntry {
    fn find(
        connection: &Connection,
        space: &StateSpace,
        key: &str,
        now: u64,
    ) -> Result<Option<Self>, ConnectionError> {
        let mut statement = connection
            .prepare_cached("SELECT version, size, until <= ?3 FROM entries WHERE space = ?1 AND key = ?2")?;
        let old = statement.query_row((row::space_key(space), key.as_bytes(), now), |row| {
            let expired = row.get::<_, Option<bool>>(2)?.unwrap_or(false);
            Ok(Self { version: row.get(0)?, size: row.get(1)?, expired })
        });
        Ok(old.optional()?)
    }

    /// Version that conditions are compared with; `None` if it has expired.
    pub fn live_version(&self) -> Option<u64> {
        (!self.expired).then_some(self.version)
    }
}

/// Counts the bytes that a commit changes.
#[derive(Debug, Default)]
pub struct CommitCount {
    /// Bytes of the entries that it writes.
    pub added: u64,
    /// Bytes of the entries that it writes over or deletes, expired ones included.
    pub removed: u64,
    /// Those of them that have not expired.
    replaced: u64,
}

impl CommitCount {
    /// Counts a change, and returns the value that it leaves behind, if any, with its time of expiry.
    pub fn count<'a>(
        &mut self,
        change: &'a StateChange,
        old: Option<&OldEntry>,
        now: u64,
    ) -> Option<(&'a [u8], Option<u64>)> {
        if change.operation == ChangeOperation::Check {
            return None;
        }
        if let Some(old) = old {
            self.removed = self.removed.saturating_add(old.size);
            self.replaced = if old.expired { self.replaced } else { old.size.saturating_add(self.replaced) };
        }
        let written = resulting_value(&change.operation, now)?;
        self.added += limits::size(&change.key, written.0);
        Some(written)
    }

    /// Whether the quota applies: a commit that frees bytes is accepted above it, since it may have been lowered.
    pub fn grows(&self) -> bool {
        self.added > self.replaced
    }
}

/// Finds the entry of each change, and fails unless all expectations hold.
fn check_expectations(
    connection: &Connection,
    space: &StateSpace,
    changes: &[StateChange],
    now: u64,
) -> Result<Vec<Option<OldEntry>>, ConnectionError> {
    let old = changes.iter().map(|change| OldEntry::find(connection, space, &change.key, now));
    let old = old.collect::<Result<Vec<_>, _>>()?;
    let versions = old.iter().map(|old| old.as_ref().and_then(OldEntry::live_version));
    check_versions(changes, versions)?;
    Ok(old)
}

/// Fails with all keys whose expectations do not hold for these versions.
///
/// # Errors
///
/// [`StateError::Conflict`].
pub fn check_versions(
    changes: &[StateChange],
    versions: impl Iterator<Item = Option<u64>>,
) -> Result<(), StateError> {
    let failed = changes.iter().zip(versions).filter(|(change, found)| match change.expect {
        ChangeCondition::Any => false,
        ChangeCondition::Absent => found.is_some(),
        ChangeCondition::Version(version) => *found != Some(version),
    });
    let keys: Vec<_> = failed.map(|(change, _)| change.key.clone()).collect();
    if keys.is_empty() { Ok(()) } else { Err(StateError::Conflict(keys)) }
}

/// Commits checks alone: reads, so it waits for no lock.
pub(crate) fn check(
    connection: &Connection,
    space: &StateSpace,
    changes: &[StateChange],
    now: u64,
) -> Result<u64, ConnectionError> {
    let _snapshot = snapshot(connection)?;
    check_expectations(connection, space, changes, now)?;
    Ok(StoreMeta::read(connection)?.revision)
}

/// Commits changes that write.
pub(crate) fn commit(
    connection: &mut Connection,
    space: &StateSpace,
    changes: &[StateChange],
    quota: u64,
    now: u64,
) -> Result<u64, ConnectionError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let old = check_expectations(&transaction, space, changes, now)?;
    let mut meta = StoreMeta::read(&transaction)?;
    meta.revision += 1;
    let mut counted = CommitCount::default();
    let mut touched = BTreeSet::new();
    for (change, old) in changes.iter().zip(&old) {
        if let Some((value, until)) = counted.count(change, old.as_ref(), now) {
            let size = limits::size(&change.key, value);
            put(
                &transaction,
                &EntryWrite { space, key: &change.key, version: meta.revision, until, size, value },
            )?;
        } else if old.is_some() && change.operation != ChangeOperation::Check {
            delete(&transaction, space, &change.key)?;
            touched.insert(row::space_key(space).to_vec());
        }
    }
    meta.bytes = meta.bytes.saturating_sub(counted.removed) + counted.added;
    let swept = sweep::remove_expired(&transaction, now, changes.len(), &mut touched)?;
    meta.bytes = meta.bytes.saturating_sub(swept);
    if counted.grows() && meta.bytes > quota {
        let needed = meta.bytes.saturating_sub(sweep::expired_bytes(&transaction, now)?);
        if needed > quota {
            return Err(StateError::Quota { needed, quota }.into());
        }
    }
    record_write(&transaction, space, meta.revision)?;
    for space in &touched {
        sweep::forget_if_empty(&transaction, space, &mut meta)?;
    }
    meta.write(&transaction)?;
    transaction.commit()?;
    Ok(meta.revision)
}

/// Returns the value that an operation leaves behind, if any, and when it expires.
fn resulting_value(operation: &ChangeOperation, now: u64) -> Option<(&[u8], Option<u64>)> {
    match operation {
        ChangeOperation::Put(value) => Some((value, None)),
        // The largest time that the tables can hold is in 292 million years.
        ChangeOperation::PutUntil(value, until) => {
            (*until > now).then_some((value, Some((*until).min(i64::MAX as u64))))
        }
        ChangeOperation::Check | ChangeOperation::Delete => None,
    }
}

/// An entry to be written.
pub(crate) struct EntryWrite<'a> {
    pub space: &'a StateSpace,
    pub key: &'a str,
    pub version: u64,
    pub until: Option<u64>,
    pub size: u64,
    pub value: &'a [u8],
}

pub(crate) fn put(transaction: &Transaction<'_>, entry: &EntryWrite<'_>) -> Result<(), ConnectionError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO entries (space, key, version, until, size, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (space, key) DO UPDATE SET \
         version = excluded.version, until = excluded.until, size = excluded.size, value = excluded.value",
    )?;
    statement.execute((
        row::space_key(entry.space),
        entry.key.as_bytes(),
        entry.version,
        entry.until,
        entry.size,
        entry.value,
    ))?;
    Ok(())
}

fn delete(transaction: &Transaction<'_>, space: &StateSpace, key: &str) -> Result<(), ConnectionError> {
    let mut statement = transaction.prepare_cached("DELETE FROM entries WHERE space = ?1 AND key = ?2")?;
    statement.execute((row::space_key(space), key.as_bytes()))?;
    Ok(())
}

/// Records the revision of the last write to a space.
pub(crate) fn record_write(
    transaction: &Transaction<'_>,
    space: &StateSpace,
    revision: u64,
) -> Result<(), ConnectionError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO spaces (space, revision) VALUES (?1, ?2) \
         ON CONFLICT (space) DO UPDATE SET revision = excluded.revision",
    )?;
    statement.execute((row::space_key(space), revision))?;
    Ok(())
}
