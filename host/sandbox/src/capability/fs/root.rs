//! A granted directory, opened.

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
};

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

impl GrantedRoot {
    pub(super) fn open(grant: &DirGrant) -> Result<Self, LoadError> {
        let failed =
            |error: std::io::Error| LoadError::Directory { path: grant.path.display().to_string(), error };
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let dir: OwnedFd = open(&grant.path, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
        let opened = File::from(dir);
        let meta = opened.metadata().map_err(failed)?;
        // It may block the thread, which is one of ours for that (`blocking.rs`).
        let read = Dir::new(opened, FsPerms::ReadOnly, OpenMode::READ, true);
        let write = grant.writable.then(|| {
            // The same descriptor: its permissions are WASI's own record.
            let mut write = read.clone();
            (write.perms, write.open_mode) = (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE);
            write
        });
        Ok(Self { at: grant.at.clone(), identity: (meta.dev(), meta.ino()), read, write })
    }

    /// Returns the directory as an action of this effect may use it.
    pub(super) fn with_effect(&self, effect: Effect) -> &Dir {
        match effect {
            Effect::Read => &self.read,
            Effect::Write | Effect::Destructive => self.write.as_ref().unwrap_or(&self.read),
        }
    }
}
