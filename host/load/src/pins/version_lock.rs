//! The lock of a host: that of its state folder, or of all servers with its database.

use std::sync::Arc;

use loggia_facade::Surface;
use loggia_state::{StateError, StateFolder};

use super::{
    diff::{ComparedVersion, VersionDiff, diff_versions},
    lock_document::{LockDocument, PendingVersion},
    lock_file::{LockError, LockFile},
    shared_lock::SharedLock,
    version_store::VersionStore,
};
use crate::file_stamp::FileStamp;

/// What an operator can do about a lock that cannot be used.
const REMEDY: &str = "restore a copy that Loggia wrote, or run `loggia approve --new-lock --all PLUGINS` to approve what is in the \
                      plugin folder now";

/// The lock of a host.
#[derive(Clone)]
pub struct VersionLock {
    place: LockPlace,
    versions: Arc<VersionStore>,
}

#[derive(Clone)]
enum LockPlace {
    Folder(LockFile),
    Database(SharedLock),
}

/// Changes with each change of the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockStamp {
    /// Metadata of the files.
    Files([Option<FileStamp>; 2]),
    /// Revision of the database's records.
    Database(u64),
}

impl VersionLock {
    /// Opens the lock of a state folder, or of its database.
    ///
    /// # Errors
    ///
    /// If the folder's secret, or the database, cannot be used.
    pub fn open(folder: &StateFolder) -> Result<Self, StateError> {
        let versions = Arc::new(VersionStore::new(folder.path()));
        let place = match folder.is_shared() {
            false => LockPlace::Folder(LockFile::open(folder)?),
            true => LockPlace::Database(SharedLock::new(folder, &versions)),
        };
        Ok(Self { place, versions })
    }

    /// Opens the lock for a server: the first one with a database brings what the lock of its folder has.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), or if the folder's own lock cannot be used.
    pub fn open_for_server(folder: &StateFolder) -> Result<Self, String> {
        let lock = Self::open(folder).map_err(|error| error.to_string())?;
        if let LockPlace::Database(shared) = &lock.place {
            let is_new = shared.is_new().map_err(|error| lock.explain(&error))?;
            let file = LockFile::open(folder).map_err(|error| error.to_string())?;
            if is_new {
                // What was approved or rejected is unknown if it cannot be used.
                let own = file.read().map_err(|error| {
                    let path = file.path();
                    format!("the lock, {}, cannot be moved to the database: it {error}", path.display())
                })?;
                shared.adopt(&own).map_err(|error| lock.explain(&error))?;
            }
        }
        Ok(lock)
    }

    /// Files and surfaces of versions on this machine.
    pub fn versions(&self) -> &VersionStore {
        &self.versions
    }

    /// Explains an error.
    pub fn explain(&self, error: &LockError) -> String {
        match &self.place {
            LockPlace::Folder(file) => format!("the lock, {}, {error}", file.path().display()),
            LockPlace::Database(_) => format!("the lock in the database {error}"),
        }
    }

    /// Explains an error, and what to do about it.
    pub fn advise(&self, error: &LockError) -> String {
        let remedy = match error {
            LockError::Read(_) | LockError::Write(_) => String::new(),
            LockError::Version(_) => "; run that release".to_owned(),
            LockError::Changed(_) | LockError::Removed | LockError::Older(..) => format!("; {REMEDY}"),
        };
        self.explain(error) + &remedy
    }

    /// Returns what changes with each change. Cheap.
    ///
    /// # Errors
    ///
    /// If the database cannot be reached.
    pub fn stamp(&self) -> Result<LockStamp, LockError> {
        match &self.place {
            LockPlace::Folder(file) => Ok(LockStamp::Files(file.stamps())),
            LockPlace::Database(shared) => shared.revision().map(LockStamp::Database),
        }
    }

    /// Reads the lock. One that was never written is empty.
    ///
    /// # Errors
    ///
    /// If it cannot be used.
    pub fn read(&self) -> Result<LockDocument, LockError> {
        match &self.place {
            LockPlace::Folder(file) => file.read(),
            LockPlace::Database(shared) => shared.read(),
        }
    }

    /// Changes the lock, unless `change` leaves it as it is; it may be called again if others are quicker. Returns the lock as it is
    /// then.
    ///
    /// # Errors
    ///
    /// If it cannot be used.
    pub fn update<T>(
        &self,
        change: impl FnMut(&mut LockDocument) -> T,
    ) -> Result<(LockDocument, T), LockError> {
        match &self.place {
            LockPlace::Folder(file) => file.update(change),
            LockPlace::Database(shared) => shared.update(change),
        }
    }

    /// Replaces a lock that cannot be used, or any other, by a new one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn replace(&self, change: impl FnMut(&mut LockDocument)) -> Result<LockDocument, LockError> {
        match &self.place {
            LockPlace::Folder(file) => file.replace(change),
            LockPlace::Database(shared) => shared.replace(change),
        }
    }

    /// Lists how a pending version differs from the approved one.
    pub fn diff(&self, lock: &LockDocument, pending: &PendingVersion) -> Vec<VersionDiff> {
        let approved = lock.entry(&pending.version.key()).map(|entry| &entry.version);
        let before = approved.and_then(|version| self.surface(&version.surface));
        let approved = approved.map(|version| ComparedVersion { version, surface: before.as_ref() });
        diff_versions(approved, pending, self.surface(&pending.version.surface).as_ref())
    }

    /// Reads a surface, if it is stored: on this machine, or by the server that found it.
    fn surface(&self, digest: &str) -> Option<Surface> {
        let bytes = self.versions.surface(digest).or_else(|| match &self.place {
            LockPlace::Folder(_) => None,
            LockPlace::Database(shared) => shared.surface(digest),
        })?;
        serde_json::from_slice(&bytes).ok()
    }
}
