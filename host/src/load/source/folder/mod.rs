//! The plugin folder as a source of offers.
//!
//! ```text
//! watch ─▶ scan ─▶ decide (pure) ─▶ admit ─▶ offers
//! ```
//!
//! Any event leads to a scan of the whole folder, so that a lost event costs time and never truth: the folder as it is
//! decides, not the story of how it came to be. A version that fails any step leaves the old one serving.
//!
//! | file | concept |
//! |---|---|
//! | `watch.rs` | file system events, reduced to "look again" and "somebody is still writing this" |
//! | `scan.rs` | the folder at one moment |
//! | `decide.rs` | pure: what to load and what to unload |
//! | `file_state.rs` | what is known of one file |
//! | `versions.rs` | which versions are loaded, for the audit trail |

mod decide;
mod file_state;
mod scan;
mod versions;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::poll_fn,
    io,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use futures_util::FutureExt;
use tokio::{
    runtime::Handle,
    task::{JoinSet, block_in_place},
    time::Instant,
};

pub use self::scan::{found_at, scan};
use self::{
    decide::Step,
    file_state::{FileState, RESCAN},
    versions::{Version, Versions},
    watch::Watch,
};
use crate::load::{
    admit::{AdmitError, Admitted, Loader},
    found::Found,
    offer::{Offer, OfferMap},
    standing::Standing,
};

/// Plugins that are admitted at once.
const ADMISSIONS: usize = 2;
/// Looking takes at most this part of a thread's time, however much happens in the folder.
const LOOKS: u32 = 10;

/// Follows a folder, and admits what is in it.
pub struct FolderSource {
    folder: PathBuf,
    loader: Arc<Loader>,
    /// Where admissions run: with the calls that go on, not where clients are answered. Has several threads.
    runtime: Handle,
    standing: Arc<Standing>,
    watch: Watch,
    /// When to look again.
    due: Instant,
    /// Before this moment the folder is not looked at again, however much happens in it.
    rested: Instant,
    files: BTreeMap<String, FileState>,
    versions: Versions,
    /// Why the folder could not be read when it was last looked at.
    unreadable: Option<String>,
    /// The first admission, of all that was there at the start, has ended.
    complete: bool,
    /// Files whose admission runs now or waits to run.
    busy: BTreeSet<String>,
    tasks: JoinSet<Attempt>,
    waiting: Vec<(String, Found)>,
}

/// What happened to a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceEvent {
    /// It was looked at. What the fence and the names depend on may have changed even if no offer did.
    Looked {
        /// Offers were withdrawn, or it can be read again.
        changed: bool,
    },
    /// It cannot be read; its offers stay as they are.
    Unreadable,
    /// An admission ended.
    Admitted,
    /// All that was there at the start has been admitted. Comes once.
    Complete,
}

/// One admission that has ended.
struct Attempt {
    file: String,
    found: Found,
    admitted: Result<Admitted, AdmitError>,
    version: Option<Version>,
    took: Duration,
}

impl FolderSource {
    /// A source over a folder, which need not exist yet.
    pub fn new(folder: PathBuf, loader: Arc<Loader>, runtime: Handle, standing: Arc<Standing>) -> Self {
        Self {
            watch: Watch::new(folder.clone()),
            folder,
            loader,
            runtime,
            standing,
            due: Instant::now(),
            rested: Instant::now(),
            files: BTreeMap::new(),
            versions: Versions::default(),
            unreadable: None,
            complete: false,
            busy: BTreeSet::new(),
            tasks: JoinSet::new(),
            waiting: Vec::new(),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Why the folder cannot be read.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// What it offers.
    pub fn offers(&self) -> impl Iterator<Item = (&str, &Offer)> {
        self.files.iter().map(|(file, state)| (file.as_str(), &state.offer))
    }

    /// The same, for assembly.
    pub fn offers_mut(&mut self) -> OfferMap<'_> {
        self.files.iter_mut().map(|(file, state)| (file.as_str(), &mut state.offer)).collect()
    }

    /// Waits for the next event. Dropping the future loses nothing. Must run on a runtime of several threads.
    pub async fn next(&mut self) -> SourceEvent {
        loop {
            let now = Instant::now();
            if self.due <= now {
                let event = block_in_place(|| {
                    self.watch.follow();
                    self.look(scan(&self.folder))
                });
                self.rested = Instant::now() + now.elapsed() * LOOKS;
                self.due = now + RESCAN;
                return event;
            }
            if !self.complete && self.busy.is_empty() {
                self.complete = true;
                return SourceEvent::Complete;
            }
            let settles = self.watch.settles();
            let next = settles.map_or(self.due, |settles| self.due.min(settles.max(self.rested)));
            tokio::select! {
                () = self.watch.changed() => self.due = self.due.min(self.rested),
                () = tokio::time::sleep_until(next) => self.due = next,
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    // An admission that panics is an attempt too; there is no other way not to end.
                    let Ok(attempt) = ended else { continue };
                    if block_in_place(|| self.take(attempt)) {
                        return SourceEvent::Admitted;
                    }
                }
            }
        }
    }

    /// Ends all admissions.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }

    /// Compares the folder with what is known of it, and begins what has to be done.
    fn look(&mut self, found: io::Result<BTreeMap<String, Found>>) -> SourceEvent {
        let found = match found {
            Ok(found) => found,
            // A folder that is not there is an empty one, and so is one that was replaced this very moment.
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                tracing::warn!(folder = %self.folder.display(), "the plugin folder cannot be read: {error}");
                self.unreadable = Some(format!("the plugin folder cannot be read: {error}"));
                return SourceEvent::Unreadable;
            }
        };
        let mut changed = self.unreadable.take().is_some();
        let unsettled = |file: &str| self.busy.contains(file) || self.watch.is_writing(file);
        for step in decide::decide(&self.files, &found, Instant::now(), unsettled) {
            match step {
                Step::Load(file, found) => {
                    self.busy.insert(file.clone());
                    self.waiting.push((file, found));
                }
                Step::Unload(file) => {
                    tracing::info!(file, "removed");
                    if let Some(state) = self.files.get_mut(&file) {
                        state.remove();
                        self.versions.removed(&file);
                        self.standing.removed.up();
                        changed = true;
                    }
                }
            }
        }
        // In the order of names, so that a restart does the same.
        self.waiting.sort_by(|a, b| b.0.cmp(&a.0));
        self.begin();
        SourceEvent::Looked { changed }
    }

    fn begin(&mut self) {
        while self.tasks.len() < ADMISSIONS
            && let Some((file, found)) = self.waiting.pop()
        {
            let loader = Arc::clone(&self.loader);
            let known = self.files.get(&file).and_then(|state| state.offer.known());
            let attempt = async move {
                let begun = Instant::now();
                let admitted = contained(loader.admit(&found, known)).await;
                let version = admitted.as_ref().ok().and_then(|admitted| Version::of(admitted, &found));
                Attempt { file, found, admitted, version, took: begun.elapsed() }
            };
            self.tasks.spawn_on(attempt, &self.runtime);
        }
    }

    /// Takes the result of an admission; whether the file's offer may have changed.
    fn take(&mut self, attempt: Attempt) -> bool {
        let Attempt { file, found, admitted, version, took } = attempt;
        self.busy.remove(&file);
        let is_changing = matches!(admitted, Err(AdmitError::Changing));
        if is_changing {
            self.watch.writing(&file);
        } else {
            let count = if admitted.is_ok() { &self.standing.loaded } else { &self.standing.failed };
            count.up();
            match (&admitted, version) {
                (Ok(_), Some(version)) => self.versions.loaded(&file, version),
                (Ok(_), None) => {}
                (Err(error), _) => self.versions.refused(&file, &error.to_string()),
            }
            self.files.entry(file.clone()).or_default().attempted(&file, &found, admitted, took);
        }
        self.begin();
        if is_changing || self.busy.is_empty() {
            self.due = self.due.min(self.rested);
        }
        !is_changing
    }
}

/// Polls an admission as the blocking work that it is (it reads, hashes, maps and checks), so that the other tasks of
/// its thread move to another meanwhile; a panic is the end of this admission only.
async fn contained(
    admission: impl Future<Output = Result<Admitted, AdmitError>>,
) -> Result<Admitted, AdmitError> {
    let mut admission = pin!(admission);
    let polled = poll_fn(|context| block_in_place(|| admission.as_mut().poll(context)));
    AssertUnwindSafe(polled).catch_unwind().await.unwrap_or(Err(AdmitError::Panicked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn an_admission_that_blocks_or_panics_keeps_nobody_else() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let blocked = tokio::spawn(contained(async move {
            // Only another task of the one thread there is lets this go on.
            receiver.recv_timeout(Duration::from_secs(10)).map_err(io::Error::other)?;
            panic!("as a defect would")
        }));
        tokio::spawn(async move { sender.send(()) });
        assert!(matches!(blocked.await, Ok(Err(AdmitError::Panicked))));
    }
}
