//! Watches plugin sources for saves.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, sync_channel},
    time::Duration,
};

use loggia_builder::is_input_path;
use notify::Event;

use crate::followed_files::{FollowedPaths, FollowingWatcher, is_write};

/// Editors save in several steps; one build covers them all.
const SETTLE_TIME: Duration = Duration::from_millis(150);

/// Watches the sources under a folder, and files elsewhere that are followed.
pub struct SourceWatcher {
    saved: Receiver<()>,
    watcher: FollowingWatcher,
}

impl SourceWatcher {
    /// Starts watching a folder, except the output of `dev`.
    ///
    /// # Errors
    ///
    /// If it cannot be watched.
    pub fn watch(root: PathBuf, out: PathBuf) -> notify::Result<Self> {
        let (sender, saved) = sync_channel(1);
        let (watched, followed) = (root.clone(), FollowedPaths::default());
        let known = followed.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // A full channel already has a pending build; an error means lost events.
            if event.map_or(true, |event| is_save(&event, &root, &out, &known)) {
                let _ = sender.try_send(());
            }
        })?;
        Ok(Self { saved, watcher: FollowingWatcher::watch(watcher, &watched, followed)? })
    }

    /// Follows these files outside the folder, and no others. Returns true if some were not followed before.
    pub fn follow(&mut self, files: &BTreeSet<&Path>) -> bool {
        self.watcher.follow(files)
    }

    /// Waits for a save, then until saves pause. Returns false if the watcher has failed.
    pub fn wait(&self) -> bool {
        let saved = self.saved.recv().is_ok();
        while self.saved.recv_timeout(SETTLE_TIME).is_ok() {}
        saved
    }
}

/// Whether an event may have changed an input of a build. The build finds out whether it did.
fn is_save(event: &Event, root: &Path, out: &Path, followed: &FollowedPaths) -> bool {
    // Components above the root are ignored, even one called `target`.
    let is_source = |path: &PathBuf| match path.strip_prefix(root) {
        Ok(below) => is_input_path(below) && !path.starts_with(out),
        Err(_) => followed.contains(path),
    };
    is_write(event) && event.paths.iter().any(is_source)
}

#[cfg(test)]
mod tests {
    use notify::{
        EventKind,
        event::{AccessKind, AccessMode, CreateKind, DataChange, ModifyKind, RemoveKind, RenameMode},
    };

    use super::*;

    #[test]
    fn only_writes_to_sources_are_saves() {
        let check = |kind: EventKind, path: &str, expected: bool| {
            let (root, out) =
                (Path::new("/home/target/.me/plugins"), Path::new("/home/target/.me/plugins/out"));
            let event = Event::new(kind).add_path(root.join(path));
            let followed = FollowedPaths::from(["/home/shared/a.rs"]);
            assert_eq!(is_save(&event, root, out, &followed), expected, "{kind:?} {path}");
        };
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        check(written, "notes/src/lib.rs", true);
        check(written, "notes/notes.toml", true);
        check(written, "deploy.workflow.yaml", true);
        check(written, "notes/prompt.md", true);
        check(written, "/home/shared/a.rs", true);
        check(written, "/home/shared/b.rs", false);
        check(written, "quote/node_modules/a/index.js", false);
        check(written, "weather/.loggia/venv/bin/python", false);
        check(written, "target/debug/build/x/out/gen.rs", false);
        check(written, "notes/target/gen.rs", false);
        check(written, ".git/config.toml", false);
        check(written, "out/plugins/notes.toml", false);
        check(EventKind::Access(AccessKind::Close(AccessMode::Write)), "notes/src/lib.rs", true);
        check(EventKind::Access(AccessKind::Close(AccessMode::Read)), "notes/src/lib.rs", false);
        check(EventKind::Remove(RemoveKind::Folder), "notes", true);
        check(EventKind::Modify(ModifyKind::Name(RenameMode::From)), "notes", true);
        check(EventKind::Create(CreateKind::Folder), "target", false);
        check(EventKind::Create(CreateKind::File), "notes/src/new.rs", true);
    }
}
