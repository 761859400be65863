//! Used by its path, with the rights that it inherits.

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use loggia_system::{file::open_no_link, folder};

/// Prefix of the names of incomplete files.
const TEMPORARY: &str = ".beside-";

/// A folder that other users cannot write to, if they cannot write to the one above.
#[derive(Debug)]
pub(crate) struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Creates a folder if it is missing. Whether others may write to it is not checked.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        folder::ensure_private(path)?;
        Ok(Self(path.canonicalize()?))
    }

    /// Opens or creates a subfolder.
    pub(crate) fn below(&self, name: &str) -> io::Result<Self> {
        let path = self.0.join(name);
        folder::ensure_private(&path)?;
        if fs::symlink_metadata(&path)?.is_dir() {
            return Ok(Self(path));
        }
        Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{name} is a link: remove it")))
    }

    /// Opens a regular file for reading; `None` if it is missing or anything else.
    pub(crate) fn read(&self, name: &str) -> Option<File> {
        let file = open_no_link(OpenOptions::new().read(true)).open(self.0.join(name)).ok()?;
        file.metadata().is_ok_and(|meta| meta.is_file()).then_some(file)
    }

    /// Writes a file atomically: under a temporary name, and renamed when it is on the disk.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.0.join(format!("{TEMPORARY}{:016x}", RandomState::new().hash_one(name)));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_data());
        // An open file cannot be renamed.
        drop(file);
        let written = written.and_then(|()| fs::rename(&temporary, self.0.join(name)));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Lists the names of its files, in no order.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    }

    /// Opens a file to be locked; creates it if it is missing.
    pub(crate) fn lockable(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        open_no_link(options.read(true).write(true).create(true).truncate(false)).open(self.0.join(name))
    }

    /// Removes a file, if it exists.
    pub(crate) fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.0.join(name));
    }

    /// Removes temporary files of killed processes. A younger file may be one that another process is writing.
    pub(crate) fn remove_leftovers(&self, age: Duration) {
        let now = SystemTime::now();
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            if !entry.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
                continue;
            }
            let modified = entry.metadata().and_then(|meta| meta.modified());
            if modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|old| old >= age)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
