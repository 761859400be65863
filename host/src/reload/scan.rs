//! The plugin folder at one moment: which files there are, and what their metadata says.

use std::{
    collections::BTreeMap,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// What tells one version of a file from another without reading it. Symbolic links are followed, so that a folder
/// mounted by Kubernetes, whose files are links into a folder that is exchanged, shows the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// A plugin's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `<name>.wasm`.
    pub wasm: PathBuf,
    /// `<name>.toml` beside it, if there is one.
    pub policy: Option<PathBuf>,
    pub(super) stamps: (Stamp, Option<Stamp>),
}

impl Found {
    /// A plugin that stands alone, with the policy beside it if there is one.
    ///
    /// # Errors
    ///
    /// If the file cannot be looked at.
    pub fn at(wasm: &Path) -> io::Result<Self> {
        let meta = fs::metadata(wasm)?;
        let policy = wasm.with_extension("toml");
        let stamp = fs::metadata(&policy).ok().map(|meta| Stamp::of(&meta));
        let stamps = (Stamp::of(&meta), stamp);
        Ok(Self { wasm: wasm.to_owned(), policy: stamp.map(|_| policy), stamps })
    }
}

/// The plugins in a folder, by file name without its ending. Nothing but `.wasm` and `.toml` is looked at.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn scan(folder: &Path) -> io::Result<BTreeMap<String, Found>> {
    let mut plugins = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some(file) = name.to_str().and_then(|name| name.strip_suffix(".wasm")) else { continue };
        // A hidden file is an editor's or a copying tool's, not yet a plugin.
        if file.is_empty() || file.starts_with('.') {
            continue;
        }
        // A file that vanished between the two looks is not there.
        if let Ok(found) = Found::at(&folder.join(&name)) {
            plugins.insert(file.to_owned(), found);
        }
    }
    Ok(plugins)
}
