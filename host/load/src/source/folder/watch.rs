//! Reduces file system events to two facts: scan again, and this file is being written.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode, CreateKind, ModifyKind},
};
use tokio::{sync::Notify, time::Instant};

use crate::facade_kind::{FileKind, file_stem};

/// A file is settled when no write to it was reported for this long. A close or a rename settles it at once.
const SETTLE_TIME: Duration = Duration::from_millis(250);

/// Watches a folder, and its parent to notice when the folder itself is created, removed or replaced.
pub struct FolderWatch {
    folder: PathBuf,
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    heard: Arc<WatchShared>,
}

/// Shared with the watcher's thread, which fills it. The lock is held only to read or update the maps, never across a
/// wait or another lock, so neither side can deadlock. `changed` wakes the one task that scans; wake-ups between two
/// scans merge.
#[derive(Default)]
struct WatchShared {
    state: Mutex<WatchState>,
    changed: Notify,
}

#[derive(Default)]
struct WatchState {
    scope: WatchScope,
    /// Time of the last write to each file, by name. Bounded by the number of files.
    writing: BTreeMap<String, Instant>,
}

/// Paths whose events matter.
#[derive(Default)]
struct WatchScope {
    /// The folder, links resolved.
    folder: Option<PathBuf>,
    /// The name of the folder; if it is missing, the first missing component of its path.
    name_path: Option<PathBuf>,
    /// Folders of skills.
    skills: Vec<PathBuf>,
}

/// Subject of an event.
#[derive(Debug, PartialEq, Eq)]
enum EventSubject<'a> {
    /// The folder itself, or the name that leads to it.
    Folder,
    /// A plugin or a policy, by file name.
    Plugin(&'a str),
    /// Another name in the folder: a link through which plugins may be reached, or an irrelevant file.
    Other,
    /// A path outside the folder.
    Elsewhere,
}

impl FolderWatch {
    /// Starts watching. Without platform support, only periodic scans find changes.
    pub fn new(folder: PathBuf) -> Self {
        let heard = Arc::new(WatchShared::default());
        let hears = Arc::clone(&heard);
        let watcher = notify::recommended_watcher(move |event| hears.handle(event));
        let watcher =
            watcher.inspect_err(|error| tracing::warn!("changes are found by rescans only: {error}")).ok();
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Self { folder, watcher, watched: BTreeSet::new(), heard }
    }

    /// Watches the folder as it is now, and its nearest existing ancestor.
    pub fn refresh(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let scope = WatchScope::resolve(&self.folder);
        let above = scope.name_path.as_ref().and_then(|door| door.parent()).map(Path::to_owned);
        let own = scope.folder.clone().into_iter().chain(scope.skills.clone());
        let wanted: BTreeSet<PathBuf> = own.chain(above).collect();
        self.heard.lock().scope = scope;
        for gone in self.watched.difference(&wanted) {
            let _ = watcher.unwatch(gone);
        }
        // A recreated directory is new under the old name; watching it twice is harmless.
        for dir in &wanted {
            if let Err(error) = watcher.watch(dir, RecursiveMode::NonRecursive) {
                tracing::debug!(dir = %dir.display(), "cannot be watched: {error}");
            }
        }
        self.watched = wanted;
    }

    /// Waits for a relevant event.
    pub async fn changed(&self) {
        self.heard.changed.notified().await;
    }

    /// Whether a plugin's file or policy is being written.
    pub fn is_writing(&self, file: &str) -> bool {
        let state = self.heard.lock();
        [file, &format!("{}.toml", file_stem(file))]
            .into_iter()
            .any(|file| state.writing.get(file).is_some_and(|at| *at + SETTLE_TIME > Instant::now()))
    }

    /// Marks a file as being written, since it changed while it was read.
    pub fn mark_writing(&mut self, file: &str) {
        self.heard.lock().writing.insert(file.to_owned(), Instant::now());
    }

    /// Time when the first file that is being written settles, unless it is written again.
    pub fn next_settled(&self) -> Option<Instant> {
        let mut state = self.heard.lock();
        let now = Instant::now();
        state.writing.retain(|_, at| *at + SETTLE_TIME > now);
        state.writing.values().min().map(|at| *at + SETTLE_TIME)
    }
}

impl WatchScope {
    /// Resolves the scope of an absolute path.
    fn resolve(folder: &Path) -> Self {
        // Both the name (possibly a link that is replaced) and its target.
        let door = folder.ancestors().find_map(|path| {
            let above = path.parent()?.canonicalize().ok()?;
            Some(above.join(path.file_name()?))
        });
        let folder = folder.canonicalize().ok();
        let skills = folder.as_deref().map(skill_folders).unwrap_or_default();
        Self { folder, name_path: door, skills }
    }

    fn classify<'a>(&self, path: &'a Path) -> EventSubject<'a> {
        if [&self.folder, &self.name_path].into_iter().flatten().any(|own| own == path) {
            return EventSubject::Folder;
        }
        if self.skills.iter().any(|skill| path.parent() == Some(skill)) {
            return EventSubject::Folder;
        }
        if path.parent() != self.folder.as_deref() {
            return EventSubject::Elsewhere;
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let plugin = name.filter(|name| FileKind::from_file_name(name).is_some() || name.ends_with(".toml"));
        plugin.map_or(EventSubject::Other, EventSubject::Plugin)
    }
}

/// Lists the folders of skills. Deeper ones are found by rescans.
fn skill_folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).filter(|path| path.extension() == Some(OsStr::new("skill"))).collect()
}

impl WatchShared {
    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, event: notify::Result<Event>) {
        // An event without a path reports lost events.
        let worth = event.map_or(true, |event| {
            event.paths.is_empty() || {
                let mut state = self.lock();
                // Every path must be applied: each may be a file that is being written.
                event.paths.iter().filter(|path| state.apply(event.kind, path)).count() > 0
            }
        });
        if worth {
            self.changed.notify_one();
        }
    }
}

impl WatchState {
    /// Applies an event on one path; returns whether it requires a scan.
    fn apply(&mut self, kind: EventKind, path: &Path) -> bool {
        // Reads, including our own.
        if matches!(kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write)) {
            return false;
        }
        match self.scope.classify(path) {
            EventSubject::Folder => true,
            EventSubject::Elsewhere => false,
            // Only the existence of other names affects plugins.
            EventSubject::Other => matches!(
                kind,
                EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
            ),
            EventSubject::Plugin(name) => {
                match kind {
                    EventKind::Create(CreateKind::File)
                    | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any) => {
                        self.writing.insert(name.to_owned(), Instant::now());
                    }
                    // For example its mode.
                    EventKind::Modify(ModifyKind::Metadata(_)) => {}
                    // Closed, renamed or removed.
                    _ => drop(self.writing.remove(name)),
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use futures_util::FutureExt;
    use notify::event::{DataChange, Flag, MetadataKind, RenameMode};

    use super::*;

    const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));
    const READ: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Read));
    const CREATED: EventKind = EventKind::Create(CreateKind::File);
    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const CHMOD: EventKind = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
    const RENAMED: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));

    #[test]
    fn events_apply_to_their_file_in_the_folder() {
        let scope = || WatchScope {
            folder: Some("/real/plugins".into()),
            name_path: Some("/tmp/plugins".into()),
            skills: vec!["/real/plugins/notes.skill".into()],
        };
        // Events in order; files then being written; whether the last event requires a scan.
        let check = |events: &[(EventKind, &str)], writing: &[&str], worth: bool| {
            let mut state = WatchState { scope: scope(), ..WatchState::default() };
            let heard: Vec<bool> =
                events.iter().map(|(kind, path)| state.apply(*kind, Path::new(path))).collect();
            assert_eq!(state.writing.keys().collect::<Vec<_>>(), writing, "{events:?}");
            assert_eq!(heard.last(), Some(&worth), "{events:?}");
        };
        let (wasm, toml) = ("/real/plugins/notes.wasm", "/real/plugins/notes.toml");
        check(&[(CREATED, wasm), (WRITTEN, wasm)], &["notes.wasm"], true);
        check(&[(WRITTEN, wasm), (CHMOD, wasm)], &["notes.wasm"], true);
        check(&[(WRITTEN, wasm), (CLOSED, wasm)], &[], true);
        check(&[(WRITTEN, wasm), (CLOSED, toml)], &["notes.wasm"], true);
        check(&[(WRITTEN, wasm), (RENAMED, wasm)], &[], true);
        check(&[(READ, wasm)], &[], false);
        // An irrelevant file, and a link through which plugins may be reached.
        check(&[(WRITTEN, "/real/plugins/log.txt")], &[], false);
        check(&[(RENAMED, "/real/plugins/..data")], &[], true);
        // The folder's name, and its neighbours.
        check(&[(RENAMED, "/tmp/plugins")], &[], true);
        check(&[(EventKind::Remove(notify::event::RemoveKind::Folder), "/real/plugins")], &[], true);
        check(&[(WRITTEN, "/real/plugins/notes.skill/SKILL.md")], &[], true);
        check(&[(CREATED, "/tmp/notes.wasm")], &[], false);
        check(&[(RENAMED, "/tmp/other")], &[], false);
    }

    /// H32.
    #[test]
    fn lost_events_trigger_a_scan() {
        let looks = |event: notify::Result<Event>| {
            let heard = WatchShared::default();
            heard.handle(event);
            heard.changed.notified().now_or_never().is_some()
        };
        assert!(
            looks(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan))),
            "the kernel's queue ran over"
        );
        assert!(looks(Err(notify::Error::generic("broken"))), "the watcher failed");
        let elsewhere = Event::new(WRITTEN).add_path("/elsewhere/notes.wasm".into());
        assert!(!looks(Ok(elsewhere)), "an event that is of no account");
    }

    /// H32.
    #[test]
    fn a_folder_is_followed_without_a_watcher() {
        let (folder, watched) = ("/plugins".into(), BTreeSet::new());
        let mut deaf = FolderWatch { folder, watcher: None, watched, heard: Arc::default() };
        deaf.refresh();
        deaf.mark_writing("notes.wasm");
        // A file that changed while it was read is read again, even without an event.
        assert!(deaf.is_writing("notes.wasm") && deaf.next_settled().is_some());
        assert!(deaf.watched.is_empty());
    }

    #[test]
    fn the_watched_name_is_missing_or_the_folders() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        let check = |folder: &str, real: Option<&str>, door: &str| {
            let scope = WatchScope::resolve(&root.join(folder));
            assert_eq!(scope.folder, real.map(|real| root.join(real)), "{folder}");
            assert_eq!(scope.name_path, Some(root.join(door)), "{folder}");
        };
        check("real", Some("real"), "real");
        check("link", Some("real"), "link");
        check("link/later", None, "real/later");
        check("not/yet", None, "not");
    }
}
