//! The folder of all plugins' stores.

use std::{
    collections::HashMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use loggia_system::folder::ensure_private;
use parking_lot::Mutex;

use crate::{
    StateError, StateStore,
    clock::{StateClock, system_time},
    error,
    file::{ENDING, StoreFile},
    pool::StorePool,
    secret,
};

/// Subfolder of the stores' files.
const STORES: &str = "stores";
const SECRET: &str = "secret";

/// The state folder, readable by its owner only. A clone is the same folder.
#[derive(Clone)]
pub struct StateFolder {
    path: PathBuf,
    clock: StateClock,
    /// Connections of the stores in use, so that two stores of one name share them. Locked to look up or add one; no file is
    /// touched meanwhile.
    pools: Arc<Mutex<HashMap<String, Weak<StorePool>>>>,
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

    /// Opens the folder with another clock than the machine's, for tests of expiry.
    ///
    /// # Errors
    ///
    /// As [`StateFolder::open`].
    pub fn with_clock(path: impl AsRef<Path>, clock: StateClock) -> Result<Self, StateError> {
        let path = path.as_ref();
        let path =
            ensure_private(path).and_then(fs::canonicalize).map_err(|error| error::io_error(path, &error))?;
        let stores = path.join(STORES);
        ensure_private(&stores).map_err(|error| error::io_error(&stores, &error))?;
        Ok(Self { path, clock, pools: Arc::default() })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the store of this name. Its quota counts the bytes of keys and values and [`OVERHEAD`](crate::OVERHEAD) for
    /// each entry, over all spaces. Touches no file: the file is opened at first use and created at the first commit.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] if the name does not match `^[a-z][a-z0-9_-]{0,31}$`.
    pub fn store(&self, name: &str, quota: u64) -> Result<StateStore, StateError> {
        let file = self.file(name)?;
        let mut pools = self.pools.lock();
        pools.retain(|_, pool| pool.strong_count() > 0);
        let pool = pools.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
            let pool = Arc::new(StorePool::new(file));
            pools.insert(name.to_owned(), Arc::downgrade(&pool));
            pool
        });
        Ok(StateStore { name: name.into(), pool, quota, clock: Arc::clone(&self.clock) })
    }

    /// Returns the names of the stores that have a file, sorted.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, StateError> {
        let stores = self.path.join(STORES);
        let list = || {
            let mut names = Vec::new();
            for file in fs::read_dir(&stores)? {
                let file = PathBuf::from(file?.file_name());
                let name = file.file_stem().and_then(|name| name.to_str()).filter(|name| is_name(name));
                if let (Some(name), Some(ENDING)) =
                    (name, file.extension().and_then(|ending| ending.to_str()))
                {
                    names.push(name.to_owned());
                }
            }
            names.sort_unstable();
            io::Result::Ok(names)
        };
        list().map_err(|error| error::io_error(&stores, &error))
    }

    /// Returns the folder's random secret, shared by all processes and created at first use.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the file cannot be read or created, or does not have 32 bytes.
    pub fn secret(&self) -> Result<[u8; 32], StateError> {
        secret::read_or_create(&self.path, SECRET)
            .map_err(|error| error::io_error(&self.path.join(SECRET), &error))
    }

    /// Removes a store's file, if it exists. Processes that use it continue with an empty store, whose versions are higher
    /// than all before. [`StateStore::clear`] keeps the file.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if it cannot be removed, [`StateError::Invalid`] for an invalid name.
    pub fn remove(&self, name: &str) -> Result<(), StateError> {
        self.file(name)?.remove()
    }

    /// Checks the name of a store, which is that of a facade.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] if the name does not match `^[a-z][a-z0-9_-]{0,31}$`.
    pub fn check_name(name: &str) -> Result<(), StateError> {
        if is_name(name) {
            return Ok(());
        }
        let message = format!("`{name}` is not a store name: up to 32 of a-z, 0-9, _ and -, a letter first");
        Err(StateError::Invalid(message))
    }

    fn file(&self, name: &str) -> Result<StoreFile, StateError> {
        Self::check_name(name)?;
        Ok(StoreFile::new(&self.path.join(STORES), name))
    }
}

impl fmt::Debug for StateFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Folder").field(&self.path).finish()
    }
}

fn is_name(name: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    name.len() <= 32 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(rest)
}
