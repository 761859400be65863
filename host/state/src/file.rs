//! A store's file: made whole or not at all, and told apart from another of the same name.
//!
//! It is never opened in this process but by SQLite: closing any other descriptor of it would drop SQLite's locks.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::{StateError, connection, error};

/// Its ending.
pub(crate) const ENDING: &str = "db";
/// What SQLite keeps beside a file.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Held while a file is made or taken away. Its name is no store's.
const LOCK: &str = ".lock";
/// How a file's name begins until it is complete.
const UNFINISHED: &str = ".new-";

/// Where a store's file is, or would be.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    folder: PathBuf,
    path: PathBuf,
}

/// Which file it is: device and inode. While a connection has it open, no other file gets the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

impl Place {
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        Self { folder: folder.to_owned(), path: folder.join(format!("{name}.{ENDING}")) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Which file is there; `None` if there is none.
    pub(crate) fn identity(&self) -> Result<Option<Identity>, StateError> {
        match fs::symlink_metadata(&self.path) {
            Ok(meta) => Ok(Some(Identity(meta.dev(), meta.ino()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Makes the file, unless it is there. It is complete from the moment it has its name, so that no other process
    /// finds half of it. Its versions go on from this revision.
    pub(crate) fn create(&self, revision: u64) -> Result<(), StateError> {
        let _lock = self.lock().map_err(|error| self.failed(error))?;
        if self.identity()?.is_some() {
            return Ok(());
        }
        self.remove_unfinished().map_err(|error| self.failed(error))?;
        let made = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder);
        let made = made.map_err(|error| self.failed(error))?.into_temp_path();
        connection::create(&made, revision)?;
        // Left by somebody who took only the file away: SQLite would play an old log into the new file.
        self.remove_beside().map_err(|error| self.failed(error))?;
        made.persist_noclobber(&self.path).map_err(|error| self.failed(error.error))?;
        self.sync().map_err(|error| self.failed(error))
    }

    /// Takes the file away, if it is there. Processes that use it notice at their next request.
    pub(crate) fn remove(&self) -> Result<(), StateError> {
        let remove = || {
            let _lock = self.lock()?;
            absent(fs::remove_file(&self.path))?;
            self.remove_beside()?;
            self.sync()
        };
        remove().map_err(|error| self.failed(error))
    }

    /// Removes what a process left that was killed while it made a file. Under the lock nobody else makes one.
    fn remove_unfinished(&self) -> io::Result<()> {
        for file in fs::read_dir(&self.folder)? {
            let file = file?;
            if file.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                absent(fs::remove_file(file.path()))?;
            }
        }
        Ok(())
    }

    fn remove_beside(&self) -> io::Result<()> {
        for ending in BESIDE {
            let mut path = self.path.clone().into_os_string();
            path.push(ending);
            absent(fs::remove_file(path))?;
        }
        Ok(())
    }

    fn lock(&self) -> io::Result<File> {
        let path = self.folder.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(path)?;
        file.lock()?;
        Ok(file)
    }

    /// Names last, too.
    fn sync(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    fn failed(&self, error: io::Error) -> StateError {
        error::io(&self.path, &error)
    }
}

fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
