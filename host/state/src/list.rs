//! Listing and clearing a store, for its operator.

use rusqlite::{Connection, TransactionBehavior};

use crate::{
    StateSpace,
    error::ConnectionError,
    limits::OVERHEAD,
    read::snapshot,
    row::{self, StoreMeta},
};

/// Size of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreUsage {
    /// Entries that have not expired, of all spaces.
    pub entries: u64,
    /// Bytes that they count for the quota.
    pub bytes: u64,
    /// The counter of versions; 0 while there is no file.
    pub revision: u64,
}

/// An entry without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEntry {
    /// The space that it is in.
    pub space: StateSpace,
    /// Key of the entry.
    pub key: String,
    /// Bytes of its value.
    pub bytes: u64,
    /// Version of the entry.
    pub version: u64,
    /// Time of expiry, in milliseconds since 1970.
    pub until: Option<u64>,
}

pub(crate) fn usage(connection: &Connection, now: u64) -> Result<StoreUsage, ConnectionError> {
    let _snapshot = snapshot(connection)?;
    count(connection, now)
}

/// Counts within a transaction.
pub(crate) fn count(connection: &Connection, now: u64) -> Result<StoreUsage, ConnectionError> {
    let revision = StoreMeta::read(connection)?.revision;
    let mut statement = connection.prepare_cached(
        "SELECT count(*), coalesce(sum(size), 0) FROM entries WHERE until IS NULL OR until > ?1",
    )?;
    Ok(statement.query_row([now], |row| Ok(StoreUsage { entries: row.get(0)?, bytes: row.get(1)?, revision }))?)
}

pub(crate) fn list(connection: &Connection, now: u64) -> Result<Vec<ListedEntry>, ConnectionError> {
    let mut statement = connection.prepare_cached(
        "SELECT space, key, size, version, until FROM entries \
         WHERE until IS NULL OR until > ?1 ORDER BY space, key",
    )?;
    let mut rows = statement.query([now])?;
    let mut listed = Vec::new();
    while let Some(row) = rows.next()? {
        let key = row::key_at(row, 1)?;
        let bytes = row.get::<_, u64>(2)?.saturating_sub(OVERHEAD + key.len() as u64);
        let space = row::space_at(row, 0)?;
        listed.push(ListedEntry { space, key, bytes, version: row.get(3)?, until: row.get(4)? });
    }
    Ok(listed)
}

pub(crate) fn clear(connection: &mut Connection, now: u64) -> Result<u64, ConnectionError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let entries = count(&transaction, now)?.entries;
    let revision = StoreMeta::read(&transaction)?.revision + 1;
    transaction.execute_batch("DELETE FROM entries; DELETE FROM spaces")?;
    StoreMeta { revision, bytes: 0, floor: revision }.write(&transaction)?;
    transaction.commit()?;
    // Frees disk space. May fail while others use the store; the entries are deleted in any case.
    let _ = connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    Ok(entries)
}
