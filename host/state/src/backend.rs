//! What keeps stores: the port of this crate. [`StateStore`](crate::StateStore) checks requests before they reach it.

use std::{fmt, io::Write, sync::Arc};

use crate::{
    ImportReport, ListedEntry, SpaceChanges, StateChange, StateEntry, StateError, StatePage, StateSpace,
    StoreUsage,
};
pub use crate::{
    changes::ChangeRange,
    commit::{CommitCount, OldEntry, check_versions},
    export::ExportWriter,
    import::{StagedEntry, StagedImport},
    limits::size,
    read::ScanRange,
    row::{space_from_key, space_key},
};

/// What keeps the stores of all plugins. All functions block.
pub trait StateBackend: fmt::Debug + Send + Sync {
    /// Returns the store of this name, which is one. Nothing is opened or created yet.
    fn open(&self, name: &str) -> Arc<dyn StoreBackend>;

    /// Returns the names of the stores to which something was committed, sorted.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`].
    fn names(&self) -> Result<Vec<String>, StateError>;

    /// Returns the random secret that all hosts with these stores share. The first one that asks gives its own.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`].
    fn share_secret(&self, own: [u8; 32]) -> Result<[u8; 32], StateError>;

    /// Removes a store, if it exists. Versions of a later one of its name are higher.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`].
    fn remove(&self, name: &str) -> Result<(), StateError>;
}

/// What keeps one store. All functions block; each sees one state of the store.
pub trait StoreBackend: fmt::Debug + Send + Sync {
    /// Returns the entries of these keys, in their order.
    ///
    /// # Errors
    ///
    /// As [`StateStore::get`](crate::StateStore::get).
    fn get(&self, space: StateSpace, keys: &[String]) -> Result<Vec<Option<StateEntry>>, StateError>;

    /// Returns a page.
    ///
    /// # Errors
    ///
    /// As [`StateStore::scan`](crate::StateStore::scan).
    fn scan(&self, space: StateSpace, range: &ScanRange) -> Result<StatePage, StateError>;

    /// Returns what has changed.
    ///
    /// # Errors
    ///
    /// As [`StateStore::changes`](crate::StateStore::changes).
    fn changes(&self, space: StateSpace, range: &ChangeRange) -> Result<SpaceChanges, StateError>;

    /// Checks the conditions of changes of which none writes. Returns the revision.
    ///
    /// # Errors
    ///
    /// As [`StateStore::commit`](crate::StateStore::commit).
    fn check(&self, space: StateSpace, changes: &[StateChange]) -> Result<u64, StateError>;

    /// Commits changes of which one writes at least. Returns their version.
    ///
    /// # Errors
    ///
    /// As [`StateStore::commit`](crate::StateStore::commit).
    fn commit(&self, space: StateSpace, changes: Vec<StateChange>, quota: u64) -> Result<u64, StateError>;

    /// Returns the size of the store.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    fn usage(&self) -> Result<StoreUsage, StateError>;

    /// Lists all keys, by space and by bytes.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    fn list(&self) -> Result<Vec<ListedEntry>, StateError>;

    /// Writes all entries by an [`ExportWriter`]. Others may commit meanwhile.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    fn export(&self, writer: &mut dyn Write) -> Result<u64, StateError>;

    /// Writes all entries of an import, or none.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    fn import(&self, staged: &StagedImport, replace: bool) -> Result<ImportReport, StateError>;

    /// Deletes all entries. Returns their number.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Storage`].
    fn clear(&self) -> Result<u64, StateError>;
}

/// Computes the first value of a new store's counter: the microseconds since 1970. A removed store of the same name has counted
/// no further, since commits take longer than a microsecond; and it is a safe integer in JavaScript until the year 2255.
pub fn first_revision(now: u64) -> u64 {
    now.saturating_mul(1000).min(1 << 53)
}
