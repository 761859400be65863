//! One store: the adapter of the port.

use std::{fmt, io::Write, sync::Arc};

use loggia_state::{
    ImportReport, ListedEntry, SpaceChanges, StateChange, StateEntry, StateError, StatePage, StateSpace,
    StoreUsage,
    backend::{ChangeRange, ScanRange, StagedImport, StoreBackend},
};

use super::{pool::StoreTarget, read, thread::StoreThread, transfer, write};

/// One store.
pub(crate) struct PostgresStore {
    pub name: Arc<str>,
    pub shared: Arc<StoreThread>,
}

impl PostgresStore {
    fn target(&self) -> StoreTarget {
        StoreTarget { name: Arc::clone(&self.name), now: self.shared.now() }
    }
}

impl StoreBackend for PostgresStore {
    fn get(&self, space: StateSpace, keys: &[String]) -> Result<Vec<Option<StateEntry>>, StateError> {
        let (pool, target, keys) = (self.shared.pool.clone(), self.target(), keys.to_vec());
        self.shared.block(async move { read::get(&pool, &target, space, &keys).await })
    }

    fn scan(&self, space: StateSpace, range: &ScanRange) -> Result<StatePage, StateError> {
        let (pool, target, range) = (self.shared.pool.clone(), self.target(), range.clone());
        self.shared.block(async move { read::scan(&pool, &target, space, &range).await })
    }

    fn changes(&self, space: StateSpace, range: &ChangeRange) -> Result<SpaceChanges, StateError> {
        let (pool, target, range) = (self.shared.pool.clone(), self.target(), range.clone());
        self.shared.block(async move { read::changes(&pool, &target, space, &range).await })
    }

    fn check(&self, space: StateSpace, changes: &[StateChange]) -> Result<u64, StateError> {
        let (pool, target, changes) = (self.shared.pool.clone(), self.target(), changes.to_vec());
        self.shared.block(async move { read::check(&pool, &target, space, &changes).await })
    }

    fn commit(&self, space: StateSpace, changes: Vec<StateChange>, quota: u64) -> Result<u64, StateError> {
        let (pool, target) = (self.shared.pool.clone(), self.target());
        self.shared.block(async move { write::commit(&pool, &target, space, &changes, quota).await })
    }

    fn usage(&self) -> Result<StoreUsage, StateError> {
        let (pool, target) = (self.shared.pool.clone(), self.target());
        self.shared.block(async move { read::usage(&pool, &target).await })
    }

    fn list(&self) -> Result<Vec<ListedEntry>, StateError> {
        let (pool, target) = (self.shared.pool.clone(), self.target());
        self.shared.block(async move { read::list(&pool, &target).await })
    }

    fn export(&self, writer: &mut dyn Write) -> Result<u64, StateError> {
        transfer::export(&self.shared, &self.target(), writer)
    }

    fn import(&self, staged: &StagedImport, replace: bool) -> Result<ImportReport, StateError> {
        transfer::import(&self.shared, &self.target(), staged, replace)
    }

    fn clear(&self) -> Result<u64, StateError> {
        let (pool, target) = (self.shared.pool.clone(), self.target());
        self.shared.block(async move { transfer::clear(&pool, &target).await })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.name).finish()
    }
}
