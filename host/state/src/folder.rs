//! The folder of all plugins' stores.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use loggia_system::folder::ensure_private;

use crate::{
    StateError, StateStore,
    backend::StateBackend,
    clock::{StateClock, system_time},
    error, limits,
    records::HostRecords,
    secret,
    sqlite::SqliteStores,
};

/// File of the folder's own secret.
const SECRET: &str = "secret";

/// The state folder, readable by its owner only. A clone is the same folder. Stores are its files, or are kept elsewhere.
#[derive(Debug, Clone)]
pub struct StateFolder {
    path: PathBuf,
    backend: Arc<dyn StateBackend>,
    is_shared: bool,
}

impl StateFolder {
    /// Opens the folder, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if it cannot be created, belongs to another user, or is writable by others.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StateError> {
        Self::with_clock(path, Arc::new(system_time))
    }

    /// Opens a folder that is removed when the process ends: commits do not wait for the disk. For test cases.
    ///
    /// # Errors
    ///
    /// As [`StateFolder::open`].
    pub fn open_temporary(path: impl AsRef<Path>) -> Result<Self, StateError> {
        let path = ensure(path.as_ref())?;
        let backend = Arc::new(SqliteStores::open(&path, Arc::new(system_time))?.temporary());
        Ok(Self { path, backend, is_shared: false })
    }

    /// Opens the folder with another clock than the machine's, for tests of expiry.
    ///
    /// # Errors
    ///
    /// As [`StateFolder::open`].
    pub fn with_clock(path: impl AsRef<Path>, clock: StateClock) -> Result<Self, StateError> {
        let path = ensure(path.as_ref())?;
        let backend = Arc::new(SqliteStores::open(&path, clock)?);
        Ok(Self { path, backend, is_shared: false })
    }

    /// Opens the folder for what is no store: the stores are kept elsewhere, and the secret is that of all hosts with these stores.
    ///
    /// # Errors
    ///
    /// As [`StateFolder::open`].
    pub fn with_backend(path: impl AsRef<Path>, backend: Arc<dyn StateBackend>) -> Result<Self, StateError> {
        Ok(Self { path: ensure(path.as_ref())?, backend, is_shared: true })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the stores are kept elsewhere, where other hosts have them, too.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns the store of this name. Its quota counts the bytes of keys and values and [`OVERHEAD`](crate::OVERHEAD) for
    /// each entry, over all spaces. It is opened at first use and created at the first commit.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] if the name does not match `^[a-z][a-z0-9_-]{0,31}$`.
    pub fn store(&self, name: &str, quota: u64) -> Result<StateStore, StateError> {
        Self::check_name(name)?;
        Ok(StateStore { name: name.into(), backend: self.backend.open(name), quota })
    }

    /// Returns a store of the host itself.
    pub fn records(&self, records: HostRecords) -> StateStore {
        let (name, quota) = (records.name(), records.quota());
        StateStore { name: name.into(), backend: self.backend.open(name), quota }
    }

    /// Returns the names of the plugins' stores to which something was committed, sorted.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if they cannot be read.
    pub fn names(&self) -> Result<Vec<String>, StateError> {
        let mut names = self.backend.names()?;
        names.retain(|name| limits::is_store_name(name));
        Ok(names)
    }

    /// Returns the random secret that all hosts with these stores share; creates it at first use.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if it cannot be read or created, or does not have 32 bytes.
    pub fn secret(&self) -> Result<[u8; 32], StateError> {
        self.backend.share_secret(self.own_secret()?)
    }

    /// Returns the random secret of this folder alone, also if its stores are kept elsewhere; creates it at first use.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if it cannot be read or created, or does not have 32 bytes.
    pub fn own_secret(&self) -> Result<[u8; 32], StateError> {
        secret::read_or_create(&self.path, SECRET)
            .map_err(|error| error::io_error(&self.path.join(SECRET), &error))
    }

    /// Removes a store, if it exists. Hosts that use it continue with an empty store, whose versions are higher than all
    /// before. [`StateStore::clear`] keeps it.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if it cannot be removed, [`StateError::Invalid`] for an invalid name.
    pub fn remove(&self, name: &str) -> Result<(), StateError> {
        Self::check_name(name)?;
        self.backend.remove(name)
    }

    /// Checks the name of a store, which is that of a facade.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] if the name does not match `^[a-z][a-z0-9_-]{0,31}$`.
    pub fn check_name(name: &str) -> Result<(), StateError> {
        if limits::is_store_name(name) {
            return Ok(());
        }
        let message = format!("`{name}` is not a store name: up to 32 of a-z, 0-9, _ and -, a letter first");
        Err(StateError::Invalid(message))
    }
}

fn ensure(path: &Path) -> Result<PathBuf, StateError> {
    ensure_private(path).and_then(fs::canonicalize).map_err(|error| error::io_error(path, &error))
}
