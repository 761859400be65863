//! The tables, and opening the file.

use std::path::Path;

use loggia_gate::journal::JournalError;
use loggia_state::StateError;
use rusqlite::Connection;

use crate::record::storage;

/// "Logj", the application id in the file's header.
const APPLICATION: i32 = 0x4c6f_676a;
/// Version of the tables. A newer one is refused rather than misread.
const VERSION: i32 = 2;

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

/// What version 2 adds. An approval is removed some time after it has expired.
const APPROVALS: &str = "
    CREATE TABLE approvals (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, subject TEXT NOT NULL,
        expires_ms INTEGER NOT NULL, record BLOB NOT NULL, decision BLOB, closed TEXT) STRICT;
    CREATE UNIQUE INDEX unclosed_approvals ON approvals (subject) WHERE closed IS NULL;
    CREATE INDEX expiring_approvals ON approvals (expires_ms);";

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
        (0, 0) | (APPLICATION, 1) => {
            upgrade(&mut connection).map(|()| connection).map_err(|error| named(error.to_string()))
        }
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

/// Creates the tables or those that are missing, unless another host does at the same moment.
fn upgrade(connection: &mut Connection) -> Result<(), JournalError> {
    connection.execute_batch("PRAGMA journal_mode = WAL;").map_err(storage)?;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(storage)?;
    let tables = match read_version(&transaction).map_err(storage)? {
        (0, 0) => format!("PRAGMA application_id = {APPLICATION}; {TABLES} {APPROVALS}"),
        (APPLICATION, 1) => APPROVALS.to_owned(),
        _ => return Ok(()),
    };
    transaction.execute_batch(&format!("{tables} PRAGMA user_version = {VERSION};")).map_err(storage)?;
    transaction.commit().map_err(storage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_first_version_is_upgraded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let old = Connection::open(&path).unwrap();
        let version = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1; {TABLES}");
        old.execute_batch(&version).unwrap();
        let insert = "INSERT INTO runs (id, facade, action, began_ms, fence, entries, bytes) VALUES ('a', 'b', 'c', 1, 1, 0, 0)";
        old.execute_batch(insert).unwrap();
        drop(old);
        for _ in 0..2 {
            let new = open(&path).unwrap();
            let count = |table| {
                new.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u32>(0))
                    .unwrap()
            };
            assert_eq!((count("runs"), count("approvals")), (1, 0));
            assert_eq!(read_version(&new).unwrap(), (APPLICATION, VERSION));
        }
    }
}
