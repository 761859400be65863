//! `commit`.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::{
    Change, Expect, Operation, Space, StateError,
    error::Trouble,
    limits,
    read::snapshot,
    row::{self, Meta},
    sweep,
};

/// What is there under a key.
struct Old {
    version: u64,
    size: u64,
    expired: bool,
}

impl Old {
    fn find(connection: &Connection, space: &Space, key: &str, now: u64) -> Result<Option<Self>, Trouble> {
        let mut statement = connection
            .prepare_cached("SELECT version, size, until <= ?3 FROM entries WHERE space = ?1 AND key = ?2")?;
        let old = statement.query_row((row::space(space), key.as_bytes(), now), |row| {
            let expired = row.get::<_, Option<bool>>(2)?.unwrap_or(false);
            Ok(Self { version: row.get(0)?, size: row.get(1)?, expired })
        });
        Ok(old.optional()?)
    }

    fn live(&self) -> bool {
        !self.expired
    }
}

/// What is there under each change's key, if all expectations hold.
fn expected(
    connection: &Connection,
    space: &Space,
    changes: &[Change],
    now: u64,
) -> Result<Vec<Option<Old>>, Trouble> {
    let old = changes.iter().map(|change| Old::find(connection, space, &change.key, now));
    let old = old.collect::<Result<Vec<_>, _>>()?;
    let versions = old.iter().map(|old| old.as_ref().filter(|old| old.live()).map(|old| old.version));
    conflicts(changes, versions)?;
    Ok(old)
}

/// Names all keys whose expectations do not hold of these versions.
fn conflicts(changes: &[Change], versions: impl Iterator<Item = Option<u64>>) -> Result<(), StateError> {
    let failed = changes.iter().zip(versions).filter(|(change, found)| match change.expect {
        Expect::Any => false,
        Expect::Absent => found.is_some(),
        Expect::Version(version) => *found != Some(version),
    });
    let keys: Vec<_> = failed.map(|(change, _)| change.key.clone()).collect();
    if keys.is_empty() { Ok(()) } else { Err(StateError::Conflict(keys)) }
}

/// A commit of checks alone: reads, so it waits for nobody.
pub(crate) fn check(
    connection: &Connection,
    space: &Space,
    changes: &[Change],
    now: u64,
) -> Result<u64, Trouble> {
    let _snapshot = snapshot(connection)?;
    expected(connection, space, changes, now)?;
    Ok(Meta::read(connection)?.revision)
}

/// The same where there is no file.
pub(crate) fn check_nothing(changes: &[Change]) -> Result<u64, StateError> {
    conflicts(changes, changes.iter().map(|_| None)).map(|()| 0)
}

/// A commit that writes.
pub(crate) fn commit(
    connection: &mut Connection,
    space: &Space,
    changes: &[Change],
    quota: u64,
    now: u64,
) -> Result<u64, Trouble> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let old = expected(&transaction, space, changes, now)?;
    let mut meta = Meta::read(&transaction)?;
    meta.revision += 1;
    let (mut added, mut replaced) = (0u64, 0u64);
    let mut touched = BTreeSet::new();
    for (change, old) in changes.iter().zip(&old) {
        if change.operation == Operation::Check {
            continue;
        }
        if let Some(old) = old {
            meta.bytes = meta.bytes.saturating_sub(old.size);
            replaced = if old.live() { old.size.saturating_add(replaced) } else { replaced };
        }
        if let Some((value, until)) = written(&change.operation, now) {
            let size = limits::size(&change.key, value);
            added += size;
            put(&transaction, &Put { space, key: &change.key, version: meta.revision, until, size, value })?;
        } else if old.is_some() {
            delete(&transaction, space, &change.key)?;
            touched.insert(row::space(space).to_vec());
        }
    }
    meta.bytes += added;
    let swept = sweep::some(&transaction, now, changes.len(), &mut touched)?;
    meta.bytes = meta.bytes.saturating_sub(swept);
    // What shrinks is welcome, or nobody could get below a quota that was lowered.
    if added > replaced && meta.bytes > quota {
        let needed = meta.bytes.saturating_sub(sweep::left(&transaction, now)?);
        if needed > quota {
            return Err(StateError::Quota { needed, quota }.into());
        }
    }
    wrote(&transaction, space, meta.revision)?;
    for space in &touched {
        sweep::forget_if_empty(&transaction, space, &mut meta)?;
    }
    meta.write(&transaction)?;
    transaction.commit()?;
    Ok(meta.revision)
}

/// The value that an operation leaves behind, if any, and until when.
fn written(operation: &Operation, now: u64) -> Option<(&[u8], Option<u64>)> {
    match operation {
        Operation::Put(value) => Some((value, None)),
        // What ends later than the tables can say ends in 292 million years.
        Operation::PutUntil(value, until) => {
            (*until > now).then_some((value, Some((*until).min(i64::MAX as u64))))
        }
        Operation::Check | Operation::Delete => None,
    }
}

/// An entry to be written.
pub(crate) struct Put<'a> {
    pub space: &'a Space,
    pub key: &'a str,
    pub version: u64,
    pub until: Option<u64>,
    pub size: u64,
    pub value: &'a [u8],
}

pub(crate) fn put(transaction: &Transaction<'_>, put: &Put<'_>) -> Result<(), Trouble> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO entries (space, key, version, until, size, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (space, key) DO UPDATE SET \
         version = excluded.version, until = excluded.until, size = excluded.size, value = excluded.value",
    )?;
    statement.execute((
        row::space(put.space),
        put.key.as_bytes(),
        put.version,
        put.until,
        put.size,
        put.value,
    ))?;
    Ok(())
}

fn delete(transaction: &Transaction<'_>, space: &Space, key: &str) -> Result<(), Trouble> {
    let mut statement = transaction.prepare_cached("DELETE FROM entries WHERE space = ?1 AND key = ?2")?;
    statement.execute((row::space(space), key.as_bytes()))?;
    Ok(())
}

/// Notes when the space was last written to.
pub(crate) fn wrote(transaction: &Transaction<'_>, space: &Space, revision: u64) -> Result<(), Trouble> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO spaces (space, revision) VALUES (?1, ?2) \
         ON CONFLICT (space) DO UPDATE SET revision = excluded.revision",
    )?;
    statement.execute((row::space(space), revision))?;
    Ok(())
}
