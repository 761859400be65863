//! Directories that no plugin may be granted: those by which it could change what the host trusts.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Links that are followed, one to the next, as systems do.
const HOPS: usize = 40;

/// A directory and those above it, each by device and inode: whatever a directory is called, and however it is reached,
/// these are the same.
#[derive(Debug, PartialEq, Eq)]
pub struct Chain(Vec<(u64, u64)>);

impl Chain {
    /// A directory as it is now, with those above it up to the root.
    ///
    /// # Errors
    ///
    /// If one of them cannot be looked at.
    pub fn of(dir: &Path) -> io::Result<Self> {
        let id = |dir: &Path| fs::metadata(dir).map(|meta| (meta.dev(), meta.ino()));
        dir.canonicalize()?.ancestors().map(id).collect::<io::Result<_>>().map(Self)
    }

    /// The directory itself, by device and inode.
    pub fn dir(&self) -> Option<(u64, u64)> {
        self.0.first().copied()
    }

    /// Whether the two are one directory, or one lies in the other.
    pub fn meets(&self, other: &Self) -> bool {
        self.holds(other) || other.holds(self)
    }

    /// Whether the other is this directory, or lies in it.
    pub fn holds(&self, other: &Self) -> bool {
        self.0.first().is_some_and(|dir| other.0.contains(dir))
    }
}

/// Where the files of a plugin folder lie that are links, and where links between lie: whoever can write there decides
/// what the host reads as plugins and policies.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn linked(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut folders = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let mut path = entry?.path();
        if !path.extension().is_some_and(|ending| ending == "wasm" || ending == "toml") {
            continue;
        }
        for _ in 0..HOPS {
            let Ok(to) = fs::read_link(&path) else { break };
            path = path.parent().unwrap_or(folder).join(to);
            // A link that leads nowhere leads there once somebody makes the file.
            if let Some(Ok(real)) = path.parent().map(Path::canonicalize) {
                folders.insert(real);
            }
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn one_directory_and_one_in_the_other_meet_and_neighbours_do_not() {
        let chain = |inodes: &[u64]| Chain(inodes.iter().map(|&inode| (1, inode)).collect());
        let check = |a: &[u64], b: &[u64], expected: bool| {
            assert_eq!(chain(a).meets(&chain(b)), expected, "{a:?} {b:?}");
            assert_eq!(chain(b).meets(&chain(a)), expected, "{b:?} {a:?}");
            assert!(!chain(b).holds(&chain(a)) || a.ends_with(b), "{b:?} {a:?}");
        };
        check(&[7, 2, 1], &[7, 2, 1], true);
        check(&[9, 7, 2, 1], &[7, 2, 1], true);
        check(&[1], &[7, 2, 1], true);
        check(&[8, 2, 1], &[7, 2, 1], false);
        assert!(!Chain(vec![(2, 7), (1, 1)]).meets(&chain(&[7, 1])), "another device");
    }

    #[test]
    fn a_directory_is_the_same_by_whatever_way_it_is_reached() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("plugins/data")).unwrap();
        symlink("plugins", path("link")).unwrap();
        let direct = Chain::of(&path("plugins/data")).unwrap();
        assert_eq!(Chain::of(&path("link/../plugins/./data")).unwrap(), direct);
        assert!(direct.meets(&Chain::of(&path("link")).unwrap()));
        assert!(Chain::of(&path("nowhere")).is_err());
    }
}
