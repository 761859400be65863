//! One plugin's state.

use std::{
    fmt,
    io::{BufRead, BufWriter, Write},
    sync::Arc,
};

use rusqlite::Connection;

use crate::{
    ChangeOperation, ImportReport, ListedEntry, StateChange, StateEntry, StateError, StatePage, StateSpace,
    StoreUsage, clock::StateClock, commit, error::ConnectionError, export, import::StagedImport, limits,
    list, pool::StorePool, read,
};

/// One plugin's state. A clone is the same store; threads and processes may use it at once.
///
/// If the file is removed while it is in use, the store is empty, and its next commit creates a new file. Versions in it are
/// higher than all before, so versions that a plugin remembers cannot match by chance.
#[derive(Clone)]
pub struct StateStore {
    pub(crate) name: Arc<str>,
    pub(crate) pool: Arc<StorePool>,
    pub(crate) quota: u64,
    pub(crate) clock: StateClock,
}

impl StateStore {
    /// Returns the entries of these keys, in their order, from one snapshot; `None` for a missing key.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] for more than [`GET_KEYS`](crate::GET_KEYS) keys, an invalid key, or values of
    /// more than [`GET_BYTES`](crate::GET_BYTES) in all; [`StateError::Busy`], [`StateError::Storage`].
    pub fn get(&self, space: StateSpace, keys: &[String]) -> Result<Vec<Option<StateEntry>>, StateError> {
        limits::check_keys(keys)?;
        let found = self.pool.read(|connection| read::get(connection, &space, keys, self.now()))?;
        Ok(found.unwrap_or_else(|| keys.iter().map(|_| None).collect()))
    }

    /// Returns a page of the entries whose keys begin with `prefix` and come after `after`, in the order of their bytes.
    ///
    /// A page holds at most `limit` and [`PAGE_ENTRIES`](crate::PAGE_ENTRIES) entries and
    /// [`PAGE_BYTES`](crate::PAGE_BYTES), but at least one entry, if there is one. With `at`, the `revision` of an earlier
    /// page, the page is of the same state as that one.
    ///
    /// # Errors
    ///
    /// [`StateError::Moved`] if the space was written to since `at`; [`StateError::Invalid`] for a `limit` of 0, or a
    /// prefix or `after` that is longer than a key; [`StateError::Busy`], [`StateError::Storage`].
    pub fn scan(
        &self,
        space: StateSpace,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        at: Option<u64>,
    ) -> Result<StatePage, StateError> {
        let range = read::ScanRange::new(prefix, after, limit, at)?;
        let found = self.pool.read(|connection| read::scan(connection, &space, &range, self.now()))?;
        match (found, at) {
            (Some(page), _) => Ok(page),
            // The file of the earlier page was removed.
            (None, Some(1..)) => Err(StateError::Moved),
            (None, _) => Ok(StatePage { items: Vec::new(), more: false, revision: 0 }),
        }
    }

    /// Commits all of these changes, or none. Returns the version of the written entries once they are on the disk; a commit
    /// of checks alone, or of nothing, writes nothing and returns the current revision.
    ///
    /// A delete takes a version too, even of a missing key. A put that has expired already is a delete.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] with all keys whose expectations do not hold; [`StateError::Quota`] if the entries would
    /// take more than the quota, and more than before; [`StateError::Invalid`] for more than
    /// [`COMMIT_CHANGES`](crate::COMMIT_CHANGES) changes or [`COMMIT_BYTES`](crate::COMMIT_BYTES) bytes, a key twice, or
    /// an invalid key or value; [`StateError::Busy`], [`StateError::Storage`].
    pub fn commit(&self, space: StateSpace, changes: Vec<StateChange>) -> Result<u64, StateError> {
        limits::check_changes(&changes)?;
        if changes.iter().all(|change| change.operation == ChangeOperation::Check) {
            let now = self.now();
            let checked = self.pool.read(|connection| commit::check(connection, &space, &changes, now))?;
            return checked.map_or_else(|| commit::check_without_file(&changes), Ok);
        }
        self.write(|connection, now| commit::commit(connection, &space, &changes, self.quota, now))
    }

    /// Returns the store's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size of the store.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    pub fn usage(&self) -> Result<StoreUsage, StateError> {
        let usage = self.pool.read(|connection| list::usage(connection, self.now()))?;
        Ok(usage.unwrap_or_default())
    }

    /// Lists all keys without their values: by space, the shared one first, and by bytes.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    pub fn list(&self) -> Result<Vec<ListedEntry>, StateError> {
        let listed = self.pool.read(|connection| list::list(connection, self.now()))?;
        Ok(listed.unwrap_or_default())
    }

    /// Writes all entries as JSON Lines, from one snapshot: a head, and a line for each entry. Callers' spaces keep their
    /// opaque keys, which are meaningful only with the same folder secret. Returns the number of entries.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the store cannot be read or the writer fails; [`StateError::Busy`].
    pub fn export(&self, writer: impl Write) -> Result<u64, StateError> {
        let mut writer = BufWriter::new(writer);
        let written =
            self.pool.read(|connection| export::export(connection, &self.name, self.now(), &mut writer))?;
        written.map_or_else(|| export::export_empty(&self.name, &mut writer), Ok)
    }

    /// Imports an export of [`StateStore::export`]: all of it, or nothing. With `replace` the store holds nothing else afterwards;
    /// without, other entries stay. Expired entries are skipped. The quota does not apply.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] with the line's number for a malformed line, and for a truncated text;
    /// [`StateError::Storage`], [`StateError::Busy`].
    pub fn import(&self, reader: impl BufRead, replace: bool) -> Result<ImportReport, StateError> {
        let staged = StagedImport::read(reader)?;
        self.write(|connection, now| staged.apply(connection, replace, now))
    }

    /// Deletes all entries of all spaces and keeps the counter of versions. Returns the number of deleted entries.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    pub fn clear(&self) -> Result<u64, StateError> {
        if self.pool.file().identity()?.is_none() {
            return Ok(0);
        }
        self.write(list::clear)
    }

    /// Runs a write. The time that it sees is read once it holds the connection, not when it was requested.
    fn write<R>(
        &self,
        work: impl FnOnce(&mut Connection, u64) -> Result<R, ConnectionError>,
    ) -> Result<R, StateError> {
        self.pool.write(first_revision(self.now()), |connection| work(connection, self.now()))
    }

    fn now(&self) -> u64 {
        (self.clock)().min(i64::MAX as u64)
    }
}

impl fmt::Debug for StateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("name", &self.name).field("quota", &self.quota).finish_non_exhaustive()
    }
}

/// Computes the first value of a new file's counter: the microseconds since 1970. A removed file of the same name has counted
/// no further, since commits take longer than a microsecond; and it is a safe integer in JavaScript until the year 2255.
fn first_revision(now: u64) -> u64 {
    now.saturating_mul(1000).min(1 << 53)
}
