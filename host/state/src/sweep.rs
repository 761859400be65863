//! Removal of expired entries and of empty spaces.

use std::collections::BTreeSet;

use rusqlite::Transaction;

use crate::{
    error::ConnectionError,
    row::{self, StoreMeta},
};

/// Expired entries that a commit removes, in addition to twice the number of its changes, so that they do not pile up.
const SWEEP: usize = 100;

/// Removes some expired entries in a commit of this many changes. Returns the bytes that they counted for the quota, and adds
/// their spaces to `touched`.
pub(crate) fn remove_expired(
    transaction: &Transaction<'_>,
    now: u64,
    changes: usize,
    touched: &mut BTreeSet<Vec<u8>>,
) -> Result<u64, ConnectionError> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE until <= ?1 ORDER BY until LIMIT ?2) \
         RETURNING space, size",
    )?;
    let mut rows = statement.query((now, SWEEP + 2 * changes))?;
    let mut bytes = 0u64;
    while let Some(row) = rows.next()? {
        touched.insert(row::blob(row, 0)?.to_vec());
        bytes = row.get::<_, u64>(1)?.saturating_add(bytes);
    }
    Ok(bytes)
}

/// Returns the bytes that remaining expired entries count for the quota.
pub(crate) fn expired_bytes(transaction: &Transaction<'_>, now: u64) -> Result<u64, ConnectionError> {
    let mut statement =
        transaction.prepare_cached("SELECT coalesce(sum(size), 0) FROM entries WHERE until <= ?1")?;
    Ok(statement.query_row([now], |row| row.get(0))?)
}

/// Removes the record of a space's last write if the space has no entries: there may be a space for each past caller.
pub(crate) fn forget_if_empty(
    transaction: &Transaction<'_>,
    space: &[u8],
    meta: &mut StoreMeta,
) -> Result<(), ConnectionError> {
    let mut statement = transaction.prepare_cached("SELECT 1 FROM entries WHERE space = ?1")?;
    if statement.exists([space])? {
        return Ok(());
    }
    let mut statement =
        transaction.prepare_cached("DELETE FROM spaces WHERE space = ?1 RETURNING revision")?;
    let mut rows = statement.query([space])?;
    while let Some(row) = rows.next()? {
        meta.floor = meta.floor.max(row.get(0)?);
    }
    Ok(())
}
