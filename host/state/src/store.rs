//! One plugin's state.

use std::{
    fmt,
    io::{BufRead, BufWriter, Write},
    sync::Arc,
};

use crate::{
    ChangeMark, ChangeOperation, ImportReport, ListedEntry, SpaceChanges, StateChange, StateEntry,
    StateError, StatePage, StateSpace, StoreUsage,
    backend::{ChangeRange, ScanRange, StagedImport, StoreBackend},
    limits,
};

/// One plugin's state. A clone is the same store; threads, processes and, with a database, machines may use it at once.
///
/// If it is removed while it is in use, the store is empty, and its next commit creates a new one. Versions in it are higher
/// than all before, so versions that a plugin remembers cannot match by chance.
#[derive(Clone)]
pub struct StateStore {
    pub(crate) name: Arc<str>,
    pub(crate) backend: Arc<dyn StoreBackend>,
    pub(crate) quota: u64,
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
        self.backend.get(space, keys)
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
        self.backend.scan(space, &ScanRange::new(prefix, after, limit, at)?)
    }

    /// Returns the keys that begin with `prefix` and were written after a mark, with [`PAGE_ENTRIES`](crate::PAGE_ENTRIES) keys and
    /// [`CHANGED_BYTES`](crate::CHANGED_BYTES) at most, but at least one, if there is one. Each change is found that a later one
    /// of its key does not hide, if the next list begins at the mark of this one. Deletions and expiry are not found. Without
    /// changes, the request is cheap.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] for a prefix that is longer than a key; [`StateError::Busy`], [`StateError::Storage`].
    pub fn changes(
        &self,
        space: StateSpace,
        prefix: &str,
        after: ChangeMark,
        limit: u32,
    ) -> Result<SpaceChanges, StateError> {
        let ScanRange { from, to, limit, .. } = ScanRange::new(prefix, None, limit, None)?;
        self.backend.changes(space, &ChangeRange { from, to, after, limit })
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
        match changes.iter().all(|change| change.operation == ChangeOperation::Check) {
            true => self.backend.check(space, &changes),
            false => self.backend.commit(space, changes, self.quota),
        }
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
        self.backend.usage()
    }

    /// Lists all keys without their values: by space, the shared one first, and by bytes.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    pub fn list(&self) -> Result<Vec<ListedEntry>, StateError> {
        self.backend.list()
    }

    /// Writes all entries as JSON Lines, from one snapshot: a head, and a line for each entry. Callers' spaces keep their
    /// opaque keys, which are meaningful only with the same folder secret. Returns the number of entries.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the store cannot be read or the writer fails; [`StateError::Busy`].
    pub fn export(&self, writer: impl Write) -> Result<u64, StateError> {
        self.backend.export(&mut BufWriter::new(writer))
    }

    /// Imports an export of [`StateStore::export`]: all of it, or nothing. With `replace` the store holds nothing else afterwards;
    /// without, other entries stay. Expired entries are skipped. The quota does not apply.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] with the line's number for a malformed line, and for a truncated text;
    /// [`StateError::Storage`], [`StateError::Busy`].
    pub fn import(&self, reader: impl BufRead, replace: bool) -> Result<ImportReport, StateError> {
        self.backend.import(&StagedImport::read(reader)?, replace)
    }

    /// Deletes all entries of all spaces and keeps the counter of versions. Returns the number of deleted entries.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    pub fn clear(&self) -> Result<u64, StateError> {
        self.backend.clear()
    }
}

impl fmt::Debug for StateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("name", &self.name).field("quota", &self.quota).finish_non_exhaustive()
    }
}
