//! A granted directory, opened.

use std::{fs::File, io};

use loggia_facade::Effect;
use loggia_policy::model::DirGrant;
use loggia_system::FileIdentity;
use wasmtime_wasi::{FsPerms, OpenMode, filesystem::Dir};

pub(super) use super::directory::open as open_dir;
use crate::LoadError;

/// A directory that was opened: replacing it on disk does not lead a plugin elsewhere.
pub(super) struct GrantedRoot {
    /// Path in the guest.
    pub at: String,
    /// Identity of the opened directory.
    pub identity: FileIdentity,
    read: Dir,
    /// Only where it may be written.
    write: Option<Dir>,
}

impl GrantedRoot {
    pub(super) fn open(grant: &DirGrant) -> Result<Self, LoadError> {
        let opened = open_dir(&grant.path).and_then(|dir| Self::new(dir, grant.at.clone(), grant.writable));
        opened.map_err(|error| LoadError::Directory { path: grant.path.display().to_string(), error })
    }

    pub(super) fn new(opened: File, at: String, writable: bool) -> io::Result<Self> {
        let identity = FileIdentity::of_file(&opened)?;
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
