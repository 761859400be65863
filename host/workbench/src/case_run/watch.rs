//! Waits for a change of what cases depend on.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, sync_channel},
    time::Duration,
};

use notify::Event;

use crate::followed_files::{FollowedPaths, FollowingWatcher, is_write};

/// Editors and builds save in several steps; one run covers them all.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// Watches the folders of cases, plugins and their sources, and files elsewhere that are followed.
pub struct CaseWatcher {
    changed: Receiver<()>,
    watcher: FollowingWatcher,
}

impl CaseWatcher {
    /// Starts watching a folder.
    ///
    /// # Errors
    ///
    /// If it cannot be watched.
    pub fn watch(root: PathBuf) -> notify::Result<Self> {
        let (sender, changed) = sync_channel(1);
        let (watched, followed) = (root.clone(), FollowedPaths::default());
        let known = followed.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // A full channel already has a pending run; an error means lost events.
            if event.map_or(true, |event| is_change(&event, &root, &known)) {
                let _ = sender.try_send(());
            }
        })?;
        Ok(Self { changed, watcher: FollowingWatcher::watch(watcher, &watched, followed)? })
    }

    /// Follows these files outside the folder, and no others.
    pub fn follow(&mut self, files: &BTreeSet<&Path>) {
        self.watcher.follow(files);
    }

    /// Waits for a change, then until changes pause. Returns false if the watcher has failed.
    pub fn wait(&self) -> bool {
        let changed = self.changed.recv().is_ok();
        while self.changed.recv_timeout(SETTLE_TIME).is_ok() {}
        changed
    }

    /// Forgets the changes during a run, once they pause.
    pub fn forget(&self) {
        while self.changed.recv_timeout(SETTLE_TIME).is_ok() {}
    }
}

fn is_change(event: &Event, root: &Path, followed: &FollowedPaths) -> bool {
    // Hidden files are those of editors, and our own before they are renamed.
    let is_made =
        |below: &Path| below.iter().any(|name| name == "target" || name.to_string_lossy().starts_with('.'));
    let matters = |path: &PathBuf| match path.strip_prefix(root) {
        Ok(below) => !is_made(below),
        Err(_) => followed.contains(path),
    };
    is_write(event) && event.paths.iter().any(matters)
}

#[cfg(test)]
mod tests {
    use notify::{
        EventKind,
        event::{AccessKind, AccessMode, CreateKind},
    };

    use super::*;

    #[test]
    fn reads_and_outputs_are_no_changes() {
        let root = Path::new("/home/target/.me/notes");
        for (kind, path, expected) in [
            (EventKind::Create(CreateKind::File), "tests/notes.yaml", true),
            (EventKind::Access(AccessKind::Close(AccessMode::Write)), "notes.wasm", true),
            (EventKind::Access(AccessKind::Close(AccessMode::Read)), "notes.wasm", false),
            (EventKind::Create(CreateKind::File), "target/loggia/test/plugins/notes.wasm", false),
            (EventKind::Create(CreateKind::File), "tests/.notes.yaml.swp", false),
            (EventKind::Create(CreateKind::File), "/home/shared/a.js", true),
            (EventKind::Create(CreateKind::File), "/home/shared/b.js", false),
        ] {
            let event = Event::new(kind).add_path(root.join(path));
            let followed = FollowedPaths::from(["/home/shared/a.js"]);
            assert_eq!(is_change(&event, root, &followed), expected, "{path}");
        }
    }
}
