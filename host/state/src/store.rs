//! One plugin's state.

use std::{
    fmt,
    io::{BufRead, BufWriter, Write},
    sync::Arc,
};

use rusqlite::Connection;

use crate::{
    Change, Entries, Entry, Imported, Listed, Operation, Space, StateError, Usage, clock::Clock, commit,
    error::Trouble, export, import::Staged, limits, list, pool::Pool, read,
};

/// One plugin's state. A clone is the same store; threads and processes may use it at once.
///
/// If the file is taken away while it is in use, then the store is empty, and its next commit begins a new file: its
/// versions are higher than all before, so nothing that a plugin remembers matches by chance.
#[derive(Clone)]
pub struct Store {
    pub(crate) name: Arc<str>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) quota: u64,
    pub(crate) clock: Clock,
}

impl Store {
    /// The entries of these keys, in their order, all of one moment; `None` for a key that is not there.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] for more than [`GET_KEYS`](crate::GET_KEYS) keys, one that no entry can have, or values of
    /// more than [`GET_BYTES`](crate::GET_BYTES) in all; [`StateError::Busy`], [`StateError::Storage`].
    pub fn get(&self, space: Space, keys: &[String]) -> Result<Vec<Option<Entry>>, StateError> {
        limits::keys(keys)?;
        let found = self.pool.read(|connection| read::get(connection, &space, keys, self.now()))?;
        Ok(found.unwrap_or_else(|| keys.iter().map(|_| None).collect()))
    }

    /// A page of the entries whose keys begin with `prefix` and come after `after`, in the order of their bytes.
    ///
    /// It holds at most `limit`, [`PAGE_ENTRIES`](crate::PAGE_ENTRIES) and [`PAGE_BYTES`](crate::PAGE_BYTES), but one
    /// entry in any case, if there is one. `at`, the `revision` of an earlier page, asks for a page of the same state.
    ///
    /// # Errors
    ///
    /// [`StateError::Moved`] if the space was written to since `at`; [`StateError::Invalid`] for a `limit` of 0, or a
    /// prefix or `after` that is longer than a key; [`StateError::Busy`], [`StateError::Storage`].
    pub fn scan(
        &self,
        space: Space,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        at: Option<u64>,
    ) -> Result<Entries, StateError> {
        let wanted = read::Wanted::new(prefix, after, limit, at)?;
        let found = self.pool.read(|connection| read::scan(connection, &space, &wanted, self.now()))?;
        match (found, at) {
            (Some(page), _) => Ok(page),
            // What was read at some revision is gone with the file.
            (None, Some(1..)) => Err(StateError::Moved),
            (None, _) => Ok(Entries { items: Vec::new(), more: false, revision: 0 }),
        }
    }

    /// Does all of these changes, or none. Answers the version that its entries have, on the disk by then; a commit of
    /// checks alone, or of nothing, writes nothing and answers the current revision.
    ///
    /// A delete takes a version too, also of a key that is not there. A put whose moment has passed is a delete.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] with all keys whose expectations do not hold; [`StateError::Quota`] if the entries would
    /// take more than the quota, and more than before; [`StateError::Invalid`] for more than
    /// [`COMMIT_CHANGES`](crate::COMMIT_CHANGES) changes or [`COMMIT_BYTES`](crate::COMMIT_BYTES) bytes, a key twice, or
    /// a key or value that no entry can have; [`StateError::Busy`], [`StateError::Storage`].
    pub fn commit(&self, space: Space, changes: Vec<Change>) -> Result<u64, StateError> {
        limits::changes(&changes)?;
        if changes.iter().all(|change| change.operation == Operation::Check) {
            let now = self.now();
            let checked = self.pool.read(|connection| commit::check(connection, &space, &changes, now))?;
            return checked.map_or_else(|| commit::check_nothing(&changes), Ok);
        }
        self.write(|connection, now| commit::commit(connection, &space, &changes, self.quota, now))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it takes.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    pub fn usage(&self) -> Result<Usage, StateError> {
        let usage = self.pool.read(|connection| list::usage(connection, self.now()))?;
        Ok(usage.unwrap_or_default())
    }

    /// All keys, without their values: by space, the shared one first, and by bytes.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    pub fn list(&self) -> Result<Vec<Listed>, StateError> {
        let listed = self.pool.read(|connection| list::list(connection, self.now()))?;
        Ok(listed.unwrap_or_default())
    }

    /// Writes all entries as JSON Lines, in one moment's state: a head, and a line for each entry. Callers' spaces keep
    /// their opaque keys, which mean something only with the same folder secret. Answers how many entries.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the store cannot be read or the writer fails; [`StateError::Busy`].
    pub fn export(&self, writer: impl Write) -> Result<u64, StateError> {
        let mut writer = BufWriter::new(writer);
        let written =
            self.pool.read(|connection| export::export(connection, &self.name, self.now(), &mut writer))?;
        written.map_or_else(|| export::nothing(&self.name, &mut writer), Ok)
    }

    /// Takes in what [`Store::export`] wrote: all of it, or nothing. With `replace` the store holds nothing else
    /// afterwards; without, other entries stay. Entries that have expired are left out. The quota does not apply.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] with the line's number for what is no entry, and for a text that was cut off;
    /// [`StateError::Storage`], [`StateError::Busy`].
    pub fn import(&self, reader: impl BufRead, replace: bool) -> Result<Imported, StateError> {
        let staged = Staged::read(reader)?;
        self.write(|connection, now| staged.apply(connection, replace, now))
    }

    /// Takes all entries of all spaces away, and leaves the counter of versions. Answers how many there were.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    pub fn clear(&self) -> Result<u64, StateError> {
        if self.pool.place().identity()?.is_none() {
            return Ok(0);
        }
        self.write(list::clear)
    }

    /// What is asked for is done at the time when its turn has come, not when it was asked for.
    fn write<R>(
        &self,
        work: impl FnOnce(&mut Connection, u64) -> Result<R, Trouble>,
    ) -> Result<R, StateError> {
        self.pool.write(first_revision(self.now()), |connection| work(connection, self.now()))
    }

    fn now(&self) -> u64 {
        (self.clock)().min(i64::MAX as u64)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("name", &self.name).field("quota", &self.quota).finish_non_exhaustive()
    }
}

/// Where the counter of a new file begins: the microseconds since 1970. A file of the same name that was taken away has
/// counted no further, since nobody commits a million times in each second; and it is a safe integer in JavaScript
/// until the year 2255.
fn first_revision(now: u64) -> u64 {
    now.saturating_mul(1000).min(1 << 53)
}
