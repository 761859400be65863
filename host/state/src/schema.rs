//! The tables of a store's file.
//!
//! Keys are BLOBs, which SQLite compares byte by byte (its TEXT ends some comparisons at a NUL). The small columns stand
//! before the value, so that they are read without it.

use rusqlite::Connection;

use crate::error::ConnectionError;

/// "Logg", the application id in the file's header.
const APPLICATION: i32 = 0x4c6f_6767;
/// Version of the tables. A newer one is refused rather than misread.
const VERSION: i32 = 1;

/// Sorted by their texts, since `VACUUM` changes the order in which they are stored. `meta` has one row, [`StoreMeta`](crate::row::StoreMeta).
const TABLES: [&str; 5] = [
    "CREATE INDEX by_expiry ON entries (until, size) WHERE until IS NOT NULL",
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, space BLOB NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL, \
     until INTEGER, size INTEGER NOT NULL, value BLOB NOT NULL) STRICT",
    "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL, bytes INTEGER NOT NULL, \
     floor INTEGER NOT NULL) STRICT",
    "CREATE TABLE spaces (space BLOB NOT NULL PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE UNIQUE INDEX by_key ON entries (space, key)",
];

/// Creates the tables in a new file, whose versions continue from this revision.
pub(crate) fn create(connection: &Connection, revision: u64) -> rusqlite::Result<()> {
    // Tables before their indexes.
    let (tables, indexes): (Vec<&str>, Vec<&str>) =
        TABLES.into_iter().partition(|sql| sql.starts_with("CREATE TABLE"));
    let tables = [tables, indexes].concat().join(";\n");
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL;
         BEGIN IMMEDIATE;
         PRAGMA application_id = {APPLICATION};
         PRAGMA user_version = {VERSION};
         {tables};
         INSERT INTO meta (id, revision, bytes, floor) VALUES (1, {revision}, 0, {revision});
         COMMIT;"
    ))
}

/// Refuses a file with other tables: a trigger or a view in it would run with the host's rights.
pub(crate) fn check(connection: &Connection) -> Result<(), ConnectionError> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    if number("application_id")? != APPLICATION {
        return Err(ConnectionError::Damaged("another program made it"));
    }
    match number("user_version")? {
        VERSION => {}
        newer if newer > VERSION => return Err(ConnectionError::Newer(newer)),
        _ => return Err(ConnectionError::Damaged("its format is unknown")),
    }
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql")?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?;
    if found.collect::<Result<Vec<_>, _>>()? != TABLES {
        return Err(ConnectionError::Damaged("it has other tables"));
    }
    Ok(())
}
