//! Directories.

use std::{
    os::fd::{AsRawFd, OwnedFd},
    path::PathBuf,
};

use loggia_facade::Effect;
use rustix::fs::{Mode, OFlags, open};
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use crate::LoadError;

/// One directory of the host, given to a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirGrant {
    /// On the host; absolute.
    pub path: PathBuf,
    /// Where the plugin sees it, for example `/notes`.
    pub at: String,
    /// Whether the plugin may write there. A `read` action never may.
    pub writable: bool,
}

pub(super) struct Root {
    dir: OwnedFd,
    at: String,
    writable: bool,
}

impl Root {
    pub fn open(grant: &DirGrant) -> Result<Self, LoadError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let dir = open(&grant.path, flags, Mode::empty()).map_err(|error| LoadError::Directory {
            path: grant.path.display().to_string(),
            error: error.into(),
        })?;
        Ok(Self { dir, at: grant.at.clone(), writable: grant.writable })
    }

    pub fn prepare(&self, wasi: &mut WasiCtxBuilder, effect: Effect) -> wasmtime::Result<()> {
        let perms = match effect {
            Effect::Write | Effect::Destructive if self.writable => FsPerms::ReadWrite,
            _ => FsPerms::ReadOnly,
        };
        // wasmtime-wasi opens by path only; this path leads to the very directory that was opened above.
        wasi.preopened_dir(format!("/proc/self/fd/{}", self.dir.as_raw_fd()), &self.at, perms)?;
        Ok(())
    }
}
