//! A granted directory, opened.

use std::{fs::File, io, os::unix::fs::MetadataExt, path::Path};

use loggia_facade::Effect;
use loggia_policy::model::DirGrant;
use rustix::fs::{Mode, OFlags, open};
use wasmtime_wasi::{FsPerms, OpenMode, filesystem::Dir};

use crate::LoadError;

/// A directory that was opened: replacing it on disk does not lead a plugin elsewhere.
pub(super) struct GrantedRoot {
    /// Path in the guest.
    pub at: String,
    /// Device and inode.
    pub identity: (u64, u64),
    read: Dir,
    /// Only where it may be written.
    write: Option<Dir>,
}

/// Opens a directory for reading.
pub(super) fn open_dir(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

/// Returns device and inode of an opened directory.
pub(super) fn identity(dir: &File) -> io::Result<(u64, u64)> {
    let meta = dir.metadata()?;
    Ok((meta.dev(), meta.ino()))
}

impl GrantedRoot {
    pub(super) fn open(grant: &DirGrant) -> Result<Self, LoadError> {
        let opened = open_dir(&grant.path).and_then(|dir| Self::new(dir, grant.at.clone(), grant.writable));
        opened.map_err(|error| LoadError::Directory { path: grant.path.display().to_string(), error })
    }

    pub(super) fn new(opened: File, at: String, writable: bool) -> io::Result<Self> {
        let identity = identity(&opened)?;
        // It may block the thread, which is one of ours for that (`blocking.rs`).
        let read = Dir::new(opened, FsPerms::ReadOnly, OpenMode::READ, true);
        let write = writable.then(|| {
            // The same descriptor: its permissions are WASI's own record.
            let mut write = read.clone();
            (write.perms, write.open_mode) = (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE);
            write
        });
        Ok(Self { at, identity, read, write })
    }

    /// Returns the directory as an action of this effect may use it.
    pub(super) fn with_effect(&self, effect: Effect) -> &Dir {
        match effect {
            Effect::Read => &self.read,
            Effect::Write | Effect::Destructive => self.write.as_ref().unwrap_or(&self.read),
        }
    }
}
