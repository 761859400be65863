//! What is left behind by expiry, and by spaces that have become empty.

use std::collections::BTreeSet;

use rusqlite::Transaction;

use crate::{
    error::Trouble,
    row::{self, Meta},
};

/// Expired entries that a commit removes: so many, and twice as many as it has changes, so that they do not pile up.
const SWEEP: usize = 100;

/// Removes some expired entries in a commit of so many changes; answers what they counted, and adds the
/// spaces they were in.
pub(crate) fn some(
    transaction: &Transaction<'_>,
    now: u64,
    changes: usize,
    touched: &mut BTreeSet<Vec<u8>>,
) -> Result<u64, Trouble> {
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

/// What expired entries count that are still there.
pub(crate) fn left(transaction: &Transaction<'_>, now: u64) -> Result<u64, Trouble> {
    let mut statement =
        transaction.prepare_cached("SELECT coalesce(sum(size), 0) FROM entries WHERE until <= ?1")?;
    Ok(statement.query_row([now], |row| row.get(0))?)
}

/// Forgets when a space was last written to, if it has no entries: there may be one for each caller that ever was.
pub(crate) fn forget_if_empty(
    transaction: &Transaction<'_>,
    space: &[u8],
    meta: &mut Meta,
) -> Result<(), Trouble> {
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
