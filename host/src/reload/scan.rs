//! The plugin folder at one moment: which files there are, and what their metadata says.

use std::{
    collections::BTreeMap,
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

/// What kind of facade a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `<name>.wasm`.
    Component,
    /// `<name>.workflow.yaml`, or `.yml`.
    Workflows,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Component, Self::Workflows];

    /// How the names of such files end.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Component => &[".wasm"],
            Self::Workflows => &[".workflow.yaml", ".workflow.yml"],
        }
    }

    /// The kind of a file of this name, and the name without its ending. A hidden file is an editor's or a copying
    /// tool's, not yet a plugin.
    pub fn of(file: &str) -> Option<(Self, &str)> {
        let endings =
            Self::ALL.into_iter().flat_map(|kind| kind.endings().iter().map(move |end| (kind, *end)));
        let mut stems = endings.filter_map(|(kind, end)| Some((kind, file.strip_suffix(end)?)));
        stems.find(|(_, stem)| !stem.is_empty() && !stem.starts_with('.'))
    }
}

/// A file's name without its ending: the name of the policy beside it, and of the facade, if it has no other.
pub fn stem(file: &str) -> &str {
    Kind::of(file).map_or(file, |(_, stem)| stem)
}

/// A plugin's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `<name>.wasm` or `<name>.workflow.yaml`.
    pub path: PathBuf,
    /// Which of them.
    pub kind: Kind,
    /// `<name>.toml` beside it, if there is one.
    pub policy: Option<PathBuf>,
    /// The folder's files of workflows, since one may refer to others; none for a component.
    pub workflows: Arc<[(PathBuf, Stamp)]>,
    stamps: (Stamp, PolicyStamp),
}

/// The policy beside a plugin, as its metadata says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PolicyStamp {
    /// No file has the policy's name.
    None,
    /// A file, perhaps reached through links.
    File(Stamp),
    /// A name whose file cannot be looked at, such as a link that leads nowhere or to itself. It is a policy that
    /// cannot be used, never no policy: without one the plugin would serve without its limits.
    Unusable,
}

impl PolicyStamp {
    fn of(path: &Path) -> Self {
        match (fs::metadata(path), fs::symlink_metadata(path)) {
            (Ok(meta), _) => Self::File(Stamp::of(&meta)),
            (Err(_), Err(error)) if error.kind() == io::ErrorKind::NotFound => Self::None,
            (Err(_), _) => Self::Unusable,
        }
    }
}

impl Found {
    /// A plugin that stands alone, with the policy beside it if there is one.
    ///
    /// # Errors
    ///
    /// If the file cannot be looked at.
    pub fn at(path: &Path) -> io::Result<Self> {
        let mut found = Self::alone(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if found.kind == Kind::Workflows {
            found.workflows = workflows(scan(folder)?.values());
        }
        Ok(found)
    }

    fn alone(path: &Path) -> io::Result<Self> {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let meta = fs::metadata(path)?;
        let (kind, policy) = match Kind::of(name) {
            Some((kind, stem)) => (kind, path.with_file_name(format!("{stem}.toml"))),
            // Whoever names a file by hand means a plugin by it.
            None => (Kind::Component, path.with_extension("toml")),
        };
        let stamps = (Stamp::of(&meta), PolicyStamp::of(&policy));
        let policy = (stamps.1 != PolicyStamp::None).then_some(policy);
        Ok(Self { path: path.to_owned(), kind, policy, workflows: Arc::default(), stamps })
    }

    /// Whether neither the file nor its policy changed.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.kind, self.stamps) == (&other.path, other.kind, other.stamps)
    }
}

fn workflows<'a>(found: impl Iterator<Item = &'a Found>) -> Arc<[(PathBuf, Stamp)]> {
    let of_workflows = found.filter(|found| found.kind == Kind::Workflows);
    of_workflows.map(|found| (found.path.clone(), found.stamps.0)).collect()
}

/// The plugins in a folder, by file name. Nothing but `.wasm`, `.workflow.yaml` and `.toml` is looked at.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn scan(folder: &Path) -> io::Result<BTreeMap<String, Found>> {
    let mut plugins = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some(file) = name.to_str().filter(|name| Kind::of(name).is_some()) else { continue };
        // A file that vanished between the two looks is not there.
        if let Ok(found) = Found::alone(&folder.join(&name)) {
            plugins.insert(file.to_owned(), found);
        }
    }
    let all = workflows(plugins.values());
    for found in plugins.values_mut().filter(|found| found.kind == Kind::Workflows) {
        found.workflows = Arc::clone(&all);
    }
    Ok(plugins)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_policy_that_cannot_be_looked_at_is_not_no_policy() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.wasm"), "1").unwrap();
        let found = || scan(folder.path()).unwrap().remove("a.wasm").unwrap();
        let none = found();
        assert_eq!(none.policy, None);
        for target in ["nowhere.toml", "a.toml"] {
            symlink(target, path("a.toml")).unwrap();
            let broken = found();
            assert_eq!(broken.policy, Some(path("a.toml")), "{target}");
            assert!(!broken.is_same(&none), "{target}");
            fs::write(path("real"), "").unwrap();
            fs::remove_file(path("a.toml")).unwrap();
            symlink("real", path("a.toml")).unwrap();
            assert!(!found().is_same(&broken), "{target}: the link was repaired");
            fs::remove_file(path("a.toml")).unwrap();
        }
    }
}
