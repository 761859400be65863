//! Connections to a store's file, hardened against hostile contents.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{StateError, error::ConnectionError, schema};

/// Longest wait of a request for other processes.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The first sleep, and the longest, while another process writes. A commit takes less than a millisecond, so a longer sleep
/// would starve; SQLite's own sleeps grow to 100 ms.
const SLEEPS: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(1)];
/// Prepared statements that are kept: more than this crate has.
const STATEMENTS: usize = 32;

/// Opens an existing file for reading and writing.
pub(crate) fn open(path: &Path) -> Result<Connection, StateError> {
    let open = || {
        let connection = connect(path, OpenFlags::empty())?;
        schema::check(&connection)?;
        Ok(connection)
    };
    open().map_err(|error: ConnectionError| error.with_path(path))
}

/// Opens an existing file for reading and writing, whose commits need not survive the system.
pub(crate) fn open_temporary(path: &Path) -> Result<Connection, StateError> {
    let connection = open(path)?;
    connection
        .pragma_update(None, "synchronous", "OFF")
        .map_err(|error| ConnectionError::from(error).with_path(path))?;
    Ok(connection)
}

/// Opens a file of other tables than a store's, and creates it if it is missing: with the same protection from hostile contents,
/// and the same durability.
///
/// # Errors
///
/// [`StateError::Storage`] if it cannot be opened.
pub fn open_database(path: &Path) -> Result<Connection, StateError> {
    connect(path, OpenFlags::SQLITE_OPEN_CREATE).map_err(|error| ConnectionError::from(error).with_path(path))
}

/// Opens an existing file for reading.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, StateError> {
    let connection = open(path)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(|error| ConnectionError::from(error).with_path(path))?;
    Ok(connection)
}

/// Creates the tables in an empty file. All of it is in the file when this returns: no log is left beside it.
pub(crate) fn create(path: &Path, revision: u64) -> Result<(), StateError> {
    let made = connect(path, OpenFlags::SQLITE_OPEN_CREATE).and_then(|connection| {
        schema::create(&connection, revision)?;
        connection.close().map_err(|(_, error)| error)
    });
    made.map_err(|error| ConnectionError::from(error).with_path(path))
}

/// Opens a connection without checking the tables. `synchronous = FULL` waits for the disk at each commit, so that an acknowledged one also survives a power failure.
/// (`NORMAL` would survive `kill -9`, and lose the last commits with the power.) Measured by `benches/speed.rs` on ext4 on a
/// virtual disk: 4,600 commits a second, against 13,000 with `NORMAL`. A call takes longer than the 0.2 ms anyway.
fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = flags
        | OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(backoff(None)))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    for (option, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
    ] {
        connection.set_db_config(option, on)?;
    }
    // The log is moved into the file every 4 MiB, and kept no longer than that. The page cache is small: a host may have
    // many stores, and the system caches the files too.
    connection.execute_batch(
        "PRAGMA cell_size_check = ON;
         PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 1000;
         PRAGMA journal_size_limit = 4194304;
         PRAGMA cache_size = -1024;",
    )?;
    Ok(connection)
}

/// Makes the next requests wait for other processes until this deadline.
pub(crate) fn wait_until(connection: &mut Connection, deadline: Instant) -> rusqlite::Result<()> {
    connection.busy_handler(Some(backoff(Some(deadline))))
}

/// Returns a busy handler that sleeps with jitter, so that two processes which commit in tight loops both make progress.
/// Without a deadline, each wait has one of [`BUSY_TIMEOUT`].
fn backoff(deadline: Option<Instant>) -> impl FnMut(i32) -> bool + Send + 'static {
    let chance = RandomState::new();
    let mut ends = Instant::now();
    move |tried| {
        if tried <= 0 {
            ends = deadline.unwrap_or_else(|| Instant::now() + BUSY_TIMEOUT);
        } else if Instant::now() >= ends {
            return false;
        }
        let longest = (SLEEPS[0] * 2u32.saturating_pow(tried.clamp(0, 8) as u32)).min(SLEEPS[1]);
        let share = chance.hash_one((tried, ends)) as u32;
        sleep(longest / 4 + (longest / 4 * 3).mul_f64(f64::from(share) / f64::from(u32::MAX)));
        true
    }
}
