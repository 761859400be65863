//! Files outside a watched folder that are followed, too: those from which plugins were built.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};

/// Whether an event may have changed a file's content or name.
pub fn is_write(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) => true,
        _ => false,
    }
}

/// The followed files, as a watcher's thread sees them. Clones share them.
#[derive(Clone, Default)]
pub struct FollowedPaths(Arc<Mutex<BTreeSet<PathBuf>>>);

impl FollowedPaths {
    /// Whether a file is followed. The lock is held for this look at them, and to replace them.
    pub fn contains(&self, file: &Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(file)
    }

    /// Replaces them. Returns true if some were not followed before.
    fn replace(&self, files: &BTreeSet<&Path>) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_new = files.iter().any(|file| !known.contains(*file));
        *known = files.iter().map(|file| file.to_path_buf()).collect();
        has_new
    }
}

#[cfg(test)]
impl<const N: usize> From<[&str; N]> for FollowedPaths {
    fn from(files: [&str; N]) -> Self {
        Self(Arc::new(Mutex::new(files.map(PathBuf::from).into())))
    }
}

/// A watcher of a folder, and of the folders of followed files.
pub struct FollowingWatcher {
    watcher: RecommendedWatcher,
    followed: FollowedPaths,
    /// Folders that are watched for them.
    folders: BTreeSet<PathBuf>,
}

impl FollowingWatcher {
    /// Watches a folder, and all below it. `followed` are the files that the watcher's handler asks for.
    ///
    /// # Errors
    ///
    /// If it cannot be watched.
    pub fn watch(
        mut watcher: RecommendedWatcher,
        root: &Path,
        followed: FollowedPaths,
    ) -> notify::Result<Self> {
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(Self { watcher, followed, folders: BTreeSet::new() })
    }

    /// Follows these files outside the folder, and no others. Returns true if some were not followed before.
    pub fn follow(&mut self, files: &BTreeSet<&Path>) -> bool {
        let folders: BTreeSet<PathBuf> =
            files.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
        for gone in self.folders.difference(&folders) {
            // One that was removed is not watched either.
            let _ = self.watcher.unwatch(gone);
        }
        for new in folders.difference(&self.folders) {
            // Editors replace files, so their folders are watched.
            if let Err(error) = self.watcher.watch(new, RecursiveMode::NonRecursive) {
                tracing::warn!("saves in {} lead to no build: {error}", new.display());
            }
        }
        self.folders = folders;
        self.followed.replace(files)
    }
}
