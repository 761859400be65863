//! Stores as SQLite files of a folder.

use std::{
    collections::HashMap,
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use loggia_system::folder::ensure_private;
use parking_lot::Mutex;
use rusqlite::Connection;

use crate::{
    ImportReport, ListedEntry, SpaceChanges, StateChange, StateEntry, StateError, StatePage, StateSpace,
    StoreUsage,
    backend::{ChangeRange, ScanRange, StagedImport, StateBackend, StoreBackend, first_revision},
    changes,
    clock::StateClock,
    commit,
    error::{self, ConnectionError},
    export::{self, ExportWriter},
    file::{ENDING, StoreFile},
    import, limits, list,
    pool::StorePool,
    read,
};

/// Subfolder of the stores' files.
const STORES: &str = "stores";

/// Files of a state folder.
pub(crate) struct SqliteStores {
    path: PathBuf,
    clock: StateClock,
    /// Whether commits do not wait for the disk, since the folder does not outlive the process.
    is_temporary: bool,
    /// Connections of the stores in use, so that two stores of one name share them. Locked to look up or add one; no file is
    /// touched meanwhile.
    pools: Mutex<HashMap<String, Weak<StorePool>>>,
}

impl SqliteStores {
    /// Opens the files of a state folder.
    pub(crate) fn open(path: &Path, clock: StateClock) -> Result<Self, StateError> {
        let stores = path.join(STORES);
        ensure_private(&stores).map_err(|error| error::io_error(&stores, &error))?;
        Ok(Self { path: path.to_owned(), clock, is_temporary: false, pools: Mutex::default() })
    }

    /// Lets commits not wait for the disk.
    pub(crate) fn temporary(self) -> Self {
        Self { is_temporary: true, ..self }
    }

    fn file(&self, name: &str) -> StoreFile {
        StoreFile::new(&self.path.join(STORES), name)
    }
}

impl StateBackend for SqliteStores {
    fn open(&self, name: &str) -> Arc<dyn StoreBackend> {
        let mut pools = self.pools.lock();
        pools.retain(|_, pool| pool.strong_count() > 0);
        let pool = pools.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
            let pool = Arc::new(StorePool::new(self.file(name), self.is_temporary));
            pools.insert(name.to_owned(), Arc::downgrade(&pool));
            pool
        });
        Arc::new(SqliteStore { name: name.into(), pool, clock: Arc::clone(&self.clock) })
    }

    fn names(&self) -> Result<Vec<String>, StateError> {
        let stores = self.path.join(STORES);
        let list = || {
            let mut names = Vec::new();
            for file in fs::read_dir(&stores)? {
                let file = PathBuf::from(file?.file_name());
                let name = file.file_stem().and_then(|name| name.to_str());
                let name = name.filter(|name| limits::is_store_name(name));
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

    fn share_secret(&self, own: [u8; 32]) -> Result<[u8; 32], StateError> {
        Ok(own)
    }

    fn remove(&self, name: &str) -> Result<(), StateError> {
        self.file(name).remove()
    }
}

impl fmt::Debug for SqliteStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteStores").field(&self.path).finish()
    }
}

/// One file.
///
/// If it is removed while it is in use, the store is empty, and its next commit creates a new file.
struct SqliteStore {
    name: Arc<str>,
    pool: Arc<StorePool>,
    clock: StateClock,
}

impl SqliteStore {
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

impl StoreBackend for SqliteStore {
    fn get(&self, space: StateSpace, keys: &[String]) -> Result<Vec<Option<StateEntry>>, StateError> {
        let found = self.pool.read(|connection| read::get(connection, &space, keys, self.now()))?;
        Ok(found.unwrap_or_else(|| keys.iter().map(|_| None).collect()))
    }

    fn scan(&self, space: StateSpace, range: &ScanRange) -> Result<StatePage, StateError> {
        let found = self.pool.read(|connection| read::scan(connection, &space, range, self.now()))?;
        found.map_or_else(|| range.page_of_nothing(), Ok)
    }

    fn changes(&self, space: StateSpace, range: &ChangeRange) -> Result<SpaceChanges, StateError> {
        let found = self.pool.read(|connection| changes::changes(connection, &space, range, self.now()))?;
        Ok(found.unwrap_or_else(|| range.list(Vec::new(), 0)))
    }

    fn check(&self, space: StateSpace, changes: &[StateChange]) -> Result<u64, StateError> {
        let checked = self.pool.read(|connection| commit::check(connection, &space, changes, self.now()))?;
        checked.map_or_else(|| commit::check_versions(changes, changes.iter().map(|_| None)).map(|()| 0), Ok)
    }

    fn commit(&self, space: StateSpace, changes: Vec<StateChange>, quota: u64) -> Result<u64, StateError> {
        self.write(|connection, now| commit::commit(connection, &space, &changes, quota, now))
    }

    fn usage(&self) -> Result<StoreUsage, StateError> {
        let usage = self.pool.read(|connection| list::usage(connection, self.now()))?;
        Ok(usage.unwrap_or_default())
    }

    fn list(&self) -> Result<Vec<ListedEntry>, StateError> {
        let listed = self.pool.read(|connection| list::list(connection, self.now()))?;
        Ok(listed.unwrap_or_default())
    }

    fn export(&self, writer: &mut dyn Write) -> Result<u64, StateError> {
        let written =
            self.pool.read(|connection| export::export(connection, &self.name, self.now(), writer))?;
        match written {
            Some(entries) => Ok(entries),
            None => ExportWriter::begin(writer, &self.name, 0)?.finish(),
        }
    }

    fn import(&self, staged: &StagedImport, replace: bool) -> Result<ImportReport, StateError> {
        self.write(|connection, now| import::apply(staged, connection, replace, now))
    }

    fn clear(&self) -> Result<u64, StateError> {
        if self.pool.file().identity()?.is_none() {
            return Ok(0);
        }
        self.write(list::clear)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteStore").field(&self.name).finish()
    }
}
