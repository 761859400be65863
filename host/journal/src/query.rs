//! SQL: claiming, loading, listing.

use loggia_gate::journal::{ClaimedRun, JournalError, NewRun, RunLease, StoredRun};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{holder::HolderLock, record::storage};

/// Bytes of the runs that are claimed at once. At least one is.
const CLAIM_BYTES: u64 = 64 << 20;

/// An unfinished run without a living host.
struct LeftRun {
    key: i64,
    id: String,
    fence: u64,
    bytes: u64,
}

pub(crate) fn claim(
    connection: &Connection,
    holder: &HolderLock,
    facades: &[String],
    most: usize,
) -> Result<Vec<ClaimedRun>, JournalError> {
    let mut claimed = Vec::new();
    let mut bytes = 0;
    for run in find_left(connection, holder, facades).map_err(storage)? {
        bytes += run.bytes;
        if claimed.len() >= most || (bytes > CLAIM_BYTES && !claimed.is_empty()) {
            break;
        }
        claimed.push(take_over(connection, holder.name(), run).map_err(storage)?);
    }
    Ok(claimed)
}

fn find_left(
    connection: &Connection,
    holder: &HolderLock,
    facades: &[String],
) -> rusqlite::Result<Vec<LeftRun>> {
    let mut hosts =
        connection.prepare_cached("SELECT DISTINCT host FROM runs WHERE ended_ms IS NULL AND facade = ?1")?;
    let mut runs = connection.prepare_cached(
        "SELECT key, id, fence, bytes FROM runs WHERE ended_ms IS NULL AND facade = ?1 AND host IS ?2 ORDER BY key",
    )?;
    let mut left = Vec::new();
    for facade in facades {
        let names = hosts.query_map([facade], |row| row.get::<_, Option<String>>(0))?;
        for host in names.collect::<rusqlite::Result<Vec<_>>>()? {
            if host.as_deref().is_some_and(|host| holder.lives(host)) {
                continue;
            }
            let found = runs.query_map((facade, &host), |row| {
                Ok(LeftRun { key: row.get(0)?, id: row.get(1)?, fence: row.get(2)?, bytes: row.get(3)? })
            })?;
            left.extend(found.collect::<rusqlite::Result<Vec<_>>>()?);
        }
    }
    left.sort_by_key(|run| run.key);
    Ok(left)
}

fn take_over(connection: &Connection, host: &str, run: LeftRun) -> rusqlite::Result<ClaimedRun> {
    let fence = run.fence + 1;
    connection
        .prepare_cached("UPDATE runs SET host = ?2, fence = ?3 WHERE key = ?1")?
        .execute((run.key, host, fence))?;
    let head = connection
        .prepare_cached("SELECT head FROM heads WHERE run = ?1")?
        .query_row([run.key], |row| row.get(0))?;
    let entries = read_entries(connection, run.key)?;
    Ok(ClaimedRun { lease: RunLease { run: run.id, fence }, head, entries })
}

fn read_entries(connection: &Connection, run: i64) -> rusqlite::Result<Vec<Vec<u8>>> {
    let mut entries =
        connection.prepare_cached("SELECT entry FROM entries WHERE run = ?1 ORDER BY number")?;
    entries.query_map([run], |row| row.get(0))?.collect()
}

pub(crate) fn history(connection: &Connection, run: &str) -> Result<Vec<Vec<u8>>, JournalError> {
    let key = connection
        .query_row("SELECT key FROM runs WHERE id = ?1", [run], |row| row.get(0))
        .optional()
        .map_err(storage)?;
    key.map_or_else(|| Ok(Vec::new()), |key| read_entries(connection, key).map_err(storage))
}

pub(crate) fn cancel_requests(connection: &Connection, host: &str) -> Result<Vec<String>, JournalError> {
    let mut select = connection
        .prepare_cached("SELECT id FROM runs WHERE ended_ms IS NULL AND host = ?1 AND cancels = 1")
        .map_err(storage)?;
    let found = select.query_map([host], |row| row.get(0)).map_err(storage)?;
    found.collect::<rusqlite::Result<Vec<_>>>().map_err(storage)
}

/// Columns of a stored run.
const STORED: &str = "SELECT id, facade, action, began_ms, head, entries, ended_ms, outcome FROM runs \
                      JOIN heads ON heads.run = runs.key LEFT JOIN outcomes ON outcomes.run = runs.key";

fn read_stored(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    let run = NewRun {
        id: row.get(0)?,
        facade: row.get(1)?,
        action: row.get(2)?,
        began_ms: row.get(3)?,
        head: row.get(4)?,
    };
    let (ended, outcome) = (row.get::<_, Option<u64>>(6)?, row.get::<_, Option<Vec<u8>>>(7)?);
    Ok(StoredRun { run, entries: row.get(5)?, end: ended.zip(outcome) })
}

pub(crate) fn load(connection: &Connection, run: &str) -> Result<Option<StoredRun>, JournalError> {
    let mut select = connection.prepare_cached(&format!("{STORED} WHERE id = ?1")).map_err(storage)?;
    select.query_row([run], read_stored).optional().map_err(storage)
}

pub(crate) fn list(
    connection: &Connection,
    facade: Option<&str>,
    most: usize,
) -> Result<Vec<StoredRun>, JournalError> {
    let sql = format!("{STORED} WHERE ?1 IS NULL OR facade = ?1 ORDER BY began_ms DESC, key DESC LIMIT ?2");
    let mut select = connection.prepare_cached(&sql).map_err(storage)?;
    let found = select.query_map((facade, most), read_stored).map_err(storage)?;
    found.collect::<rusqlite::Result<Vec<_>>>().map_err(storage)
}
