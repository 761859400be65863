//! What an operator sees of a store, and clearing it.

use rusqlite::{Connection, TransactionBehavior};

use crate::{
    Space,
    error::Trouble,
    limits::OVERHEAD,
    read::snapshot,
    row::{self, Meta},
};

/// What a store takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Entries that have not expired, of all spaces.
    pub entries: u64,
    /// What they count for the quota.
    pub bytes: u64,
    /// The counter of versions; 0 while there is no file.
    pub revision: u64,
}

/// An entry without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Whose.
    pub space: Space,
    /// Its key.
    pub key: String,
    /// Bytes of its value.
    pub bytes: u64,
    /// Its version.
    pub version: u64,
    /// When it expires, in milliseconds since 1970.
    pub until: Option<u64>,
}

pub(crate) fn usage(connection: &Connection, now: u64) -> Result<Usage, Trouble> {
    let _snapshot = snapshot(connection)?;
    count(connection, now)
}

/// The same within a transaction.
pub(crate) fn count(connection: &Connection, now: u64) -> Result<Usage, Trouble> {
    let revision = Meta::read(connection)?.revision;
    let mut statement = connection.prepare_cached(
        "SELECT count(*), coalesce(sum(size), 0) FROM entries WHERE until IS NULL OR until > ?1",
    )?;
    Ok(statement.query_row([now], |row| Ok(Usage { entries: row.get(0)?, bytes: row.get(1)?, revision }))?)
}

pub(crate) fn list(connection: &Connection, now: u64) -> Result<Vec<Listed>, Trouble> {
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
        listed.push(Listed { space, key, bytes, version: row.get(3)?, until: row.get(4)? });
    }
    Ok(listed)
}

pub(crate) fn clear(connection: &mut Connection, now: u64) -> Result<u64, Trouble> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let entries = count(&transaction, now)?.entries;
    let revision = Meta::read(&transaction)?.revision + 1;
    transaction.execute_batch("DELETE FROM entries; DELETE FROM spaces")?;
    Meta { revision, bytes: 0, floor: revision }.write(&transaction)?;
    transaction.commit()?;
    // Gives the disk back. The entries are gone in any case, so it may wait where others use the store.
    let _ = connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    Ok(entries)
}
