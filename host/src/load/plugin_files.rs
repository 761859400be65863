//! The files of one plugin, as their metadata says.

use std::{
    ffi::OsStr,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What tells one version of a file from another without reading it. Symbolic links are followed, so that a folder
/// mounted by Kubernetes, whose files are links into a folder that is exchanged, shows the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    pub(super) fn from_metadata(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// What kind of facade a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FacadeKind {
    /// `<name>.wasm`.
    Component,
    /// `<name>.workflow.yaml`, or `.yml`.
    Workflows,
}

impl FacadeKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Component, Self::Workflows];

    /// How the names of such files end.
    pub fn suffixes(self) -> &'static [&'static str] {
        match self {
            Self::Component => &[".wasm"],
            Self::Workflows => &[".workflow.yaml", ".workflow.yml"],
        }
    }

    /// The kind of a file of this name, and the name without its ending. A hidden file is an editor's or a copying
    /// tool's, not yet a plugin.
    pub fn from_file_name(file: &str) -> Option<(Self, &str)> {
        let endings =
            Self::ALL.into_iter().flat_map(|kind| kind.suffixes().iter().map(move |end| (kind, *end)));
        let mut stems = endings.filter_map(|(kind, end)| Some((kind, file.strip_suffix(end)?)));
        stems.find(|(_, stem)| !stem.is_empty() && !stem.starts_with('.'))
    }
}

/// A file's name without its ending: the name of the policy beside it, and of the facade, if it has no other.
pub fn file_stem(file: &str) -> &str {
    FacadeKind::from_file_name(file).map_or(file, |(_, stem)| stem)
}

/// A plugin's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFiles {
    /// `<name>.wasm` or `<name>.workflow.yaml`.
    pub path: PathBuf,
    /// Which of them.
    pub kind: FacadeKind,
    /// `<name>.toml` beside it, if there is one.
    pub policy: Option<PathBuf>,
    /// The folder's files of workflows, since one may refer to others; none for a component.
    pub workflows: Arc<[(PathBuf, FileStamp)]>,
    stamps: (FileStamp, PolicyStamp),
}

/// The policy beside a plugin, as its metadata says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PolicyStamp {
    /// No file has the policy's name.
    None,
    /// A file, perhaps reached through links.
    File(FileStamp),
    /// A name whose file cannot be looked at, such as a link that leads nowhere or to itself. It is a policy that
    /// cannot be used, never no policy: without one the plugin would serve without its limits.
    Unusable,
}

impl PolicyStamp {
    fn read(path: &Path) -> Self {
        match (fs::metadata(path), fs::symlink_metadata(path)) {
            (Ok(meta), _) => Self::File(FileStamp::from_metadata(&meta)),
            (Err(_), Err(error)) if error.kind() == io::ErrorKind::NotFound => Self::None,
            (Err(_), _) => Self::Unusable,
        }
    }
}

impl PluginFiles {
    /// The stamp of the plugin's own file.
    pub fn stamp(&self) -> FileStamp {
        self.stamps.0
    }

    /// A plugin by itself, with the policy beside it if there is one.
    ///
    /// # Errors
    ///
    /// If the file cannot be looked at.
    pub(super) fn from_path(path: &Path) -> io::Result<Self> {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let meta = fs::metadata(path)?;
        let (kind, policy) = match FacadeKind::from_file_name(name) {
            Some((kind, stem)) => (kind, path.with_file_name(format!("{stem}.toml"))),
            // Whoever names a file by hand means a plugin by it.
            None => (FacadeKind::Component, path.with_extension("toml")),
        };
        let stamps = (FileStamp::from_metadata(&meta), PolicyStamp::read(&policy));
        let policy = (stamps.1 != PolicyStamp::None).then_some(policy);
        Ok(Self { path: path.to_owned(), kind, policy, workflows: Arc::default(), stamps })
    }

    /// Whether neither the file nor its policy changed.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.kind, self.stamps) == (&other.path, other.kind, other.stamps)
    }
}
