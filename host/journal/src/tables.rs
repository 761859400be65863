//! The tables, and opening the file.

use std::path::Path;

use loggia_gate::journal::JournalError;
use loggia_state::StateError;
use rusqlite::Connection;

use crate::record::storage;

/// "Logj", the application id in the file's header.
const APPLICATION: i32 = 0x4c6f_676a;
/// Version of the tables. A newer one is refused rather than misread.
const VERSION: i32 = 1;

/// What changes with each entry stands apart from what is large and never changes.
const TABLES: &str = "
    CREATE TABLE runs (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, facade TEXT NOT NULL, action TEXT NOT NULL,
        began_ms INTEGER NOT NULL, host TEXT, fence INTEGER NOT NULL, entries INTEGER NOT NULL, bytes INTEGER NOT NULL,
        ended_ms INTEGER, cancels INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE INDEX unfinished ON runs (facade, host) WHERE ended_ms IS NULL;
    CREATE INDEX cancelled ON runs (host) WHERE ended_ms IS NULL AND cancels = 1;
    CREATE INDEX ended ON runs (ended_ms, bytes) WHERE ended_ms IS NOT NULL;
    CREATE TABLE heads (run INTEGER PRIMARY KEY, head BLOB NOT NULL) STRICT;
    CREATE TABLE outcomes (run INTEGER PRIMARY KEY, outcome BLOB NOT NULL) STRICT;
    CREATE TABLE entries (key INTEGER PRIMARY KEY, run INTEGER NOT NULL, number INTEGER NOT NULL, entry BLOB NOT NULL) STRICT;
    CREATE UNIQUE INDEX by_run ON entries (run, number);";

/// Opens the file, and creates it if it is missing.
pub(crate) fn open(path: &Path) -> Result<Connection, JournalError> {
    let named = |error: String| JournalError::Storage(format!("{}: {error}", path.display()));
    let mut connection = loggia_state::open_database(path).map_err(|error| match error {
        // It names the file.
        StateError::Storage(reason) => JournalError::Storage(reason),
        other => named(other.to_string()),
    })?;
    match read_version(&connection).map_err(|error| named(error.to_string()))? {
        (APPLICATION, VERSION) => Ok(connection),
        (0, 0) => create(&mut connection).map(|()| connection).map_err(|error| named(error.to_string())),
        (APPLICATION, newer) if newer > VERSION => {
            Err(named(format!("a newer Loggia made it (format {newer}): update this one")))
        }
        _ => Err(named(
            "it is damaged or not a Loggia file: move it away, and unfinished runs with it".to_owned(),
        )),
    }
}

fn read_version(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    Ok((number("application_id")?, number("user_version")?))
}

/// Creates the tables, unless another host does at the same moment.
fn create(connection: &mut Connection) -> Result<(), JournalError> {
    connection.execute_batch("PRAGMA journal_mode = WAL;").map_err(storage)?;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(storage)?;
    if read_version(&transaction).map_err(storage)? == (0, 0) {
        let versions =
            format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {TABLES}");
        transaction.execute_batch(&versions).map_err(storage)?;
    }
    transaction.commit().map_err(storage)
}
