//! File system events, reduced to two facts: look again, and somebody is still writing this file.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode, CreateKind, ModifyKind},
};
use tokio::{sync::Notify, time::Instant};

/// A file that is being written has settled when nothing was heard of it for so long. A writer that closes its file,
/// or renames it into place, is not waited for.
const SETTLES: Duration = Duration::from_millis(250);

/// Watches a folder, and what it takes to notice that the folder itself comes, goes or is exchanged.
pub struct Watch {
    folder: PathBuf,
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    heard: Arc<Heard>,
}

/// Filled by the watcher's thread.
#[derive(Default)]
struct Heard {
    /// When each file was last written to, by file name without its ending. Bounded by the files of the folder.
    writing: Mutex<BTreeMap<String, Instant>>,
    changed: Notify,
}

impl Watch {
    /// Begins to watch. Where the platform cannot, only rescans find changes.
    pub fn new(folder: PathBuf) -> Self {
        let heard = Arc::new(Heard::default());
        let hears = Arc::clone(&heard);
        let watcher = notify::recommended_watcher(move |event| hears.take(event));
        let watcher =
            watcher.inspect_err(|error| tracing::warn!("changes are found by rescans only: {error}")).ok();
        Self { folder, watcher, watched: BTreeSet::new(), heard }
    }

    /// Watches the folder's directory as it is now, and the nearest directory above it that exists.
    pub fn follow(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let mut wanted = BTreeSet::new();
        // Both the name (which may be a link that is exchanged) and what it leads to.
        wanted.extend(self.folder.canonicalize());
        let above = self
            .folder
            .ancestors()
            .skip(1)
            .map(|dir| if dir == Path::new("") { Path::new(".") } else { dir });
        wanted.extend(above.filter_map(|dir| dir.canonicalize().ok()).next());
        for gone in self.watched.difference(&wanted) {
            let _ = watcher.unwatch(gone);
        }
        // A directory that was removed and made again is a new one under the old name: watching anew is harmless.
        for dir in &wanted {
            if let Err(error) = watcher.watch(dir, RecursiveMode::NonRecursive) {
                tracing::debug!(dir = %dir.display(), "cannot be watched: {error}");
            }
        }
        self.watched = wanted;
    }

    /// Something happened that is worth a look.
    pub async fn changed(&self) {
        self.heard.changed.notified().await;
    }

    /// Whether a file is still being written.
    pub fn is_writing(&self, file: &str) -> bool {
        self.heard.lock().get(file).is_some_and(|at| *at + SETTLES > Instant::now())
    }

    /// A file was seen to change while it was read.
    pub fn writing(&mut self, file: &str) {
        self.heard.lock().insert(file.to_owned(), Instant::now());
    }

    /// When the first file that is being written will have settled, if nothing more is heard of it.
    pub fn settles(&self) -> Option<Instant> {
        let mut writing = self.heard.lock();
        let now = Instant::now();
        writing.retain(|_, at| *at + SETTLES > now);
        writing.values().min().map(|at| *at + SETTLES)
    }
}

impl Heard {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Instant>> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, event: notify::Result<Event>) {
        let Ok(event) = event else {
            self.changed.notify_one();
            return;
        };
        let files = event.paths.iter().filter_map(|path| file(path));
        match event.kind {
            // Our own reading, among others'.
            EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write) => return,
            EventKind::Access(_) => {
                let mut writing = self.lock();
                for file in files {
                    writing.remove(&file);
                }
            }
            EventKind::Create(CreateKind::File)
            | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any) => {
                let now = Instant::now();
                self.lock().extend(files.map(|file| (file, now)));
            }
            _ => {}
        }
        self.changed.notify_one();
    }
}

/// The plugin a path belongs to.
fn file(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?;
    matches!(ending, "wasm" | "toml").then(|| path.file_stem()?.to_str().map(str::to_owned))?
}
