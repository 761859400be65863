//! The lock as rows of a database: one for each version and each rejection. Pure.

use std::collections::{BTreeMap, BTreeSet};

use loggia_state::{ChangeCondition, ChangeOperation, StateChange};
use serde::Deserialize;

use super::{
    lock_document::{LockDocument, LockEntry, LockScope, StoredLock},
    lock_file::LockError,
};

/// Beginning of the keys of the lock.
pub(super) const LOCK: &str = "lock/";
pub(super) const HEAD: &str = "lock/head";
const ENTRY: &str = "lock/entry/";
const PENDING: &str = "lock/pending/";
const REJECTED: &str = "lock/rejected/";
pub(super) const SURFACE: &str = "surface/";
/// Version of the format.
pub(super) const VERSION: u32 = 1;

/// Rows of the lock but for the head, by key.
pub(super) type LockRows = BTreeMap<String, Vec<u8>>;

/// The rows of a lock.
pub(super) fn to_rows(lock: &LockDocument) -> Result<LockRows, LockError> {
    let StoredLock { entries, pending, rejected, .. } = lock.to_stored(VERSION);
    let mut rows = LockRows::new();
    let mut put = |prefix: &str, digest: &str, value: serde_json::Result<Vec<u8>>| {
        let value = value.map_err(|error| LockError::Write(error.into()))?;
        rows.insert(format!("{prefix}{digest}"), value);
        Ok(())
    };
    for entry in entries {
        put(ENTRY, &entry.version.digest(), serde_json::to_vec(&entry))?;
    }
    for pending in pending {
        put(PENDING, &pending.version.digest(), serde_json::to_vec(&pending))?;
    }
    for (digest, decision) in rejected {
        put(REJECTED, &digest, serde_json::to_vec(&decision))?;
    }
    Ok(rows)
}

/// The lock of these rows.
pub(super) fn parse_rows(revision: u64, rows: &LockRows) -> Result<LockDocument, LockError> {
    let (mut entries, mut pending, mut rejected) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (key, value) in rows {
        let changed = |error: serde_json::Error| LockError::Changed(format!("{key}: {error}"));
        if key.starts_with(ENTRY) {
            entries.push(serde_json::from_slice::<LockEntry>(value).map_err(changed)?);
        } else if key.starts_with(PENDING) {
            pending.push(serde_json::from_slice(value).map_err(changed)?);
        } else if let Some(digest) = key.strip_prefix(REJECTED) {
            rejected.insert(digest.to_owned(), serde_json::from_slice(value).map_err(changed)?);
        }
    }
    // Those that were approved last have no end.
    entries
        .sort_by(|one, other| (one.until.is_none(), &one.until).cmp(&(other.until.is_none(), &other.until)));
    let stored = StoredLock { version: VERSION, revision, entries, pending, rejected };
    Ok(LockDocument::from_stored(LockScope::Servers, stored))
}

/// The changes that make the first rows the second.
pub(super) fn changed_rows<'a>(
    before: &'a LockRows,
    after: &'a LockRows,
) -> impl Iterator<Item = StateChange> + 'a {
    let put = after.iter().filter(|(key, value)| before.get(*key) != Some(*value));
    let put = put.map(|(key, value)| (key, ChangeOperation::Put(value.clone())));
    let removed = before.keys().filter(|key| !after.contains_key(*key));
    let removed = removed.map(|key| (key, ChangeOperation::Delete));
    put.chain(removed).map(|(key, operation)| StateChange {
        key: key.clone(),
        // The head has not changed.
        expect: ChangeCondition::Any,
        operation,
    })
}

/// Digests of the surfaces that rows name.
pub(super) fn named_surfaces(rows: &LockRows) -> BTreeSet<String> {
    #[derive(Deserialize)]
    struct Named {
        surface: String,
    }
    let versions = rows.iter().filter(|(key, _)| key.starts_with(ENTRY) || key.starts_with(PENDING));
    let named = versions.filter_map(|(_, value)| serde_json::from_slice::<Named>(value).ok());
    named.map(|named| named.surface).collect()
}
