//! A store's file: created atomically, and distinguished from a later file of the same name.
//!
//! Only SQLite may open it in this process: closing any other descriptor of it would drop SQLite's locks.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use loggia_system::{FileIdentity, file::private_options, folder};

use crate::{StateError, connection, error};

/// Extension of a store's file.
pub(crate) const ENDING: &str = "db";
/// Suffixes of the files that SQLite keeps beside a database.
const SIDE_FILES: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Lock file, held while a store's file is created or removed. No store has its name.
const LOCK: &str = ".lock";
/// Prefix of a file's name until the file is complete.
const UNFINISHED: &str = ".new-";

/// Path of a store's file, which may not exist.
#[derive(Debug, Clone)]
pub(crate) struct StoreFile {
    folder: PathBuf,
    path: PathBuf,
}

impl StoreFile {
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        Self { folder: folder.to_owned(), path: folder.join(format!("{name}.{ENDING}")) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the identity of the current file; `None` if there is none. While a connection has it open, no other file gets
    /// the same.
    pub(crate) fn identity(&self) -> Result<Option<FileIdentity>, StateError> {
        match FileIdentity::of_name(&self.path) {
            Ok(identity) => Ok(Some(identity)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Creates the file, unless it exists. It gets its name when it is complete, so that no other process finds half of it. Its
    /// versions continue from this revision.
    pub(crate) fn create(&self, revision: u64) -> Result<(), StateError> {
        let _lock = self.lock().map_err(|error| self.failed(error))?;
        if self.identity()?.is_some() {
            return Ok(());
        }
        self.remove_unfinished().map_err(|error| self.failed(error))?;
        let made = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder);
        let made = made.map_err(|error| self.failed(error))?.into_temp_path();
        connection::create(&made, revision)?;
        // Left where only the database was removed: SQLite would replay the old log into the new file.
        self.remove_side_files().map_err(|error| self.failed(error))?;
        made.persist_noclobber(&self.path).map_err(|error| self.failed(error.error))?;
        self.sync().map_err(|error| self.failed(error))
    }

    /// Removes the file, if it exists. Processes that use it notice at their next request.
    pub(crate) fn remove(&self) -> Result<(), StateError> {
        let remove = || {
            let _lock = self.lock()?;
            ignore_missing(fs::remove_file(&self.path))?;
            self.remove_side_files()?;
            self.sync()
        };
        remove().map_err(|error| self.failed(error))
    }

    /// Removes unfinished files of killed processes. The lock keeps other processes from creating one meanwhile.
    fn remove_unfinished(&self) -> io::Result<()> {
        for file in fs::read_dir(&self.folder)? {
            let file = file?;
            if file.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                ignore_missing(fs::remove_file(file.path()))?;
            }
        }
        Ok(())
    }

    fn remove_side_files(&self) -> io::Result<()> {
        for ending in SIDE_FILES {
            let mut path = self.path.clone().into_os_string();
            path.push(ending);
            ignore_missing(fs::remove_file(path))?;
        }
        Ok(())
    }

    fn lock(&self) -> io::Result<File> {
        let path = self.folder.join(LOCK);
        let file = private_options().create(true).truncate(false).write(true).open(path)?;
        file.lock()?;
        Ok(file)
    }

    /// Syncs the folder, so that names survive a power failure too.
    fn sync(&self) -> io::Result<()> {
        folder::sync(&self.folder)
    }

    fn failed(&self, error: io::Error) -> StateError {
        error::io_error(&self.path, &error)
    }
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
