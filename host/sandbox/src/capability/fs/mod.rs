//! Directories: which, how they may be used, and how much of them a call may write and hold open.
//!
//! WASI's file functions are wasmtime-wasi's; this module stands before them (`host.rs`), counts, and runs them on threads
//! that may block, at the call's expense (`away.rs`). Opening (`open.rs`) and streams (`streams.rs`) are its own. A
//! directory costs a call nothing until the guest asks which ones there are.

mod away;
mod held;
mod host;
mod open;
mod streams;

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::PathBuf,
    sync::Arc,
};

use loggia_facade::{Effect, Limit};
use rustix::fs::{Mode, OFlags, open};
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::{
    FsPerms, OpenMode,
    filesystem::{Dir, WasiFilesystemCtx, WasiFilesystemCtxView},
    p2::bindings::filesystem,
};

use self::held::Held;
use crate::{LoadError, guest::Guest, limits::Limits, meter::Meter};

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

/// Links WASI's file functions with our counting before them. Shadows those that are linked already.
pub(super) fn init(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    filesystem::preopens::add_to_linker::<Guest, HasFiles>(linker, Guest::files)?;
    filesystem::types::add_to_linker::<Guest, HasFiles>(linker, Guest::files)
}

struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = View<'a>;
}

/// A directory that was opened: replacing it on disk does not lead a plugin elsewhere.
pub(crate) struct Root {
    at: String,
    /// Device and inode.
    identity: (u64, u64),
    read: Dir,
    /// Only where it may be written.
    write: Option<Dir>,
}

impl Root {
    pub(super) fn configure(grant: &DirGrant) -> Result<Self, LoadError> {
        let failed =
            |error: std::io::Error| LoadError::Directory { path: grant.path.display().to_string(), error };
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let dir: OwnedFd = open(&grant.path, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
        let opened = File::from(dir);
        let meta = opened.metadata().map_err(failed)?;
        // It may block the thread, which is one of ours for that (`away.rs`).
        let read = Dir::new(opened, FsPerms::ReadOnly, OpenMode::READ, true);
        let write = grant.writable.then(|| {
            // The same descriptor: what may be done with it is WASI's own note.
            let mut write = read.clone();
            (write.perms, write.open_mode) = (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE);
            write
        });
        Ok(Self { at: grant.at.clone(), identity: (meta.dev(), meta.ino()), read, write })
    }

    /// Which directory it is, by device and inode.
    pub(super) fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// The directory as an action of this effect may use it.
    fn within(&self, effect: Effect) -> &Dir {
        match effect {
            Effect::Read => &self.read,
            Effect::Write | Effect::Destructive => self.write.as_ref().unwrap_or(&self.read),
        }
    }
}

/// The files of one call.
#[derive(Default)]
pub(crate) struct Files {
    roots: Option<(Arc<[Root]>, Effect)>,
    held: Held,
    wasi: WasiFilesystemCtx,
}

impl Files {
    /// What an action of this effect may use of the plugin's directories.
    pub(super) fn prepare(roots: &Arc<[Root]>, limits: &Limits, effect: Effect) -> Self {
        Self {
            roots: Some((Arc::clone(roots), effect)),
            held: Held::new(limits.written, limits.descriptors),
            wasi: WasiFilesystemCtx::default(),
        }
    }

    /// A limit that the guest ran into, in words.
    pub(crate) fn ran_into(&self) -> Option<String> {
        let full = self.held.ran_into()?;
        let said = full.as_str();
        Some(match self.held.limit(full) {
            Some(Limit { key, value }) => format!("{said}, which is {value}; the operator can raise `{key}`"),
            None => said.to_owned(),
        })
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable, meter: &'a Arc<Meter>) -> View<'a> {
        let Self { roots, held, wasi } = self;
        View { roots: roots.as_ref(), held, meter, wasi: WasiFilesystemCtxView { ctx: wasi, table } }
    }
}

/// The files of one call while the guest asks for something of them.
pub(crate) struct View<'a> {
    roots: Option<&'a (Arc<[Root]>, Effect)>,
    held: &'a mut Held,
    meter: &'a Arc<Meter>,
    wasi: WasiFilesystemCtxView<'a>,
}
