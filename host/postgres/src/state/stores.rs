//! All stores.

use std::{fmt, sync::Arc};

use loggia_state::{
    StateClock, StateError,
    backend::{StateBackend, StoreBackend},
};

use super::{store::PostgresStore, thread::StoreThread, transfer};
use crate::{access::DatabaseAccess, error::PostgresError};

/// The stores of plugins in PostgreSQL. Connects at first use.
pub struct PostgresStores {
    shared: Arc<StoreThread>,
}

impl PostgresStores {
    /// Starts the thread of the connections. Entries expire by the clock of the server.
    ///
    /// # Errors
    ///
    /// [`PostgresError::Settings`] if no thread can be started.
    pub fn new(access: DatabaseAccess) -> Result<Self, PostgresError> {
        Self::start(access, None)
    }

    /// Like [`PostgresStores::new`], with another clock than that of the server, for tests of expiry.
    ///
    /// # Errors
    ///
    /// As [`PostgresStores::new`].
    pub fn with_clock(access: DatabaseAccess, clock: StateClock) -> Result<Self, PostgresError> {
        Self::start(access, Some(clock))
    }

    fn start(access: DatabaseAccess, clock: Option<StateClock>) -> Result<Self, PostgresError> {
        let failed = |error: std::io::Error| {
            PostgresError::Settings(format!("the connections of the state cannot start: {error}"))
        };
        Ok(Self { shared: Arc::new(StoreThread::start(access, clock).map_err(failed)?) })
    }
}

impl StateBackend for PostgresStores {
    fn open(&self, name: &str) -> Arc<dyn StoreBackend> {
        Arc::new(PostgresStore { name: name.into(), shared: Arc::clone(&self.shared) })
    }

    fn names(&self) -> Result<Vec<String>, StateError> {
        let pool = self.shared.pool.clone();
        self.shared.block(async move { transfer::names(&pool).await })
    }

    fn share_secret(&self, own: [u8; 32]) -> Result<[u8; 32], StateError> {
        let pool = self.shared.pool.clone();
        self.shared.block(async move { transfer::share_secret(&pool, own).await })
    }

    fn remove(&self, name: &str) -> Result<(), StateError> {
        let (pool, name) = (self.shared.pool.clone(), name.to_owned());
        self.shared.block(async move { transfer::remove(&pool, &name).await })
    }
}

impl fmt::Debug for PostgresStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStores").field(&self.shared.pool.name()).finish()
    }
}
