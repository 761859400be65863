//! SQL: creating, appending, finishing.

use std::time::{SystemTime, UNIX_EPOCH};

use loggia_gate::journal::{JournalError, NewRun, RunLease};
use rusqlite::{Connection, OptionalExtension};

/// Converts an error of SQLite.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn storage(error: rusqlite::Error) -> JournalError {
    JournalError::Storage(error.to_string())
}

/// Time in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn create(connection: &Connection, host: &str, run: &NewRun) -> Result<(), JournalError> {
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO runs (id, facade, action, began_ms, host, fence, entries, bytes) VALUES (?1, ?2, ?3, ?4, ?5, 1, 0, ?6)",
        )
        .map_err(storage)?;
    let bytes = run.head.len();
    insert.execute((&run.id, &run.facade, &run.action, run.began_ms, host, bytes)).map_err(storage)?;
    let key = connection.last_insert_rowid();
    let mut insert =
        connection.prepare_cached("INSERT INTO heads (run, head) VALUES (?1, ?2)").map_err(storage)?;
    insert.execute((key, &run.head)).map_err(storage)?;
    Ok(())
}

/// Finds the key of a run that this host may record, with its number of entries.
fn find_leased(connection: &Connection, host: &str, lease: &RunLease) -> Result<(i64, u64), JournalError> {
    let mut select = connection
        .prepare_cached(
            "SELECT key, entries FROM runs WHERE id = ?1 AND host = ?2 AND fence = ?3 AND ended_ms IS NULL",
        )
        .map_err(storage)?;
    let found =
        select.query_row((&lease.run, host, lease.fence), |row| Ok((row.get(0)?, row.get(1)?))).optional();
    found.map_err(storage)?.ok_or(JournalError::Lost)
}

pub(crate) fn append(
    connection: &Connection,
    host: &str,
    lease: &RunLease,
    first: u64,
    entries: &[Vec<u8>],
) -> Result<(), JournalError> {
    let (key, count) = find_leased(connection, host, lease)?;
    if count != first {
        return Err(JournalError::Lost);
    }
    if entries.is_empty() {
        return Ok(());
    }
    let mut insert = connection
        .prepare_cached("INSERT INTO entries (run, number, entry) VALUES (?1, ?2, ?3)")
        .map_err(storage)?;
    for (number, entry) in (first..).zip(entries) {
        insert.execute((key, number, entry)).map_err(storage)?;
    }
    let bytes: usize = entries.iter().map(Vec::len).sum();
    let mut update = connection
        .prepare_cached("UPDATE runs SET entries = entries + ?2, bytes = bytes + ?3 WHERE key = ?1")
        .map_err(storage)?;
    update.execute((key, entries.len(), bytes)).map_err(storage)?;
    Ok(())
}

pub(crate) fn finish(
    connection: &Connection,
    host: &str,
    lease: &RunLease,
    outcome: &[u8],
) -> Result<(), JournalError> {
    let (key, _) = find_leased(connection, host, lease)?;
    let mut update = connection
        .prepare_cached("UPDATE runs SET ended_ms = ?2, host = NULL, bytes = bytes + ?3 WHERE key = ?1")
        .map_err(storage)?;
    update.execute((key, now_ms(), outcome.len())).map_err(storage)?;
    let mut insert =
        connection.prepare_cached("INSERT INTO outcomes (run, outcome) VALUES (?1, ?2)").map_err(storage)?;
    insert.execute((key, outcome)).map_err(storage)?;
    Ok(())
}

pub(crate) fn release(connection: &Connection, host: &str, lease: &RunLease) -> Result<(), JournalError> {
    let (key, _) = find_leased(connection, host, lease)?;
    connection.execute("UPDATE runs SET host = NULL WHERE key = ?1", [key]).map_err(storage)?;
    Ok(())
}

pub(crate) fn request_cancel(connection: &Connection, run: &str) -> Result<bool, JournalError> {
    let sql = "UPDATE runs SET cancels = 1 WHERE id = ?1 AND ended_ms IS NULL";
    connection.execute(sql, [run]).map(|changed| changed > 0).map_err(storage)
}
