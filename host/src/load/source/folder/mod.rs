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

pub use self::scan::{find_plugin, scan_folder};
use self::{
    decide::LoadStep,
    file_state::{FileState, RESCAN_INTERVAL},
    versions::{AuditedVersion, AuditedVersions},
    watch::FolderWatch,
};
use crate::load::{
    admit::{AdmitError, AdmittedPlugin, Loader},
    load_status::Standing,
    offer::{FacadeOffer, OfferMap},
    plugin_files::PluginFiles,
};

/// Plugins that are admitted at once.
const MAX_ADMISSIONS: usize = 2;
/// Looking takes at most this part of a thread's time, however much happens in the folder.
const SCAN_FACTOR: u32 = 10;

/// Follows a folder, and admits what is in it.
pub struct FolderSource {
    folder: PathBuf,
    loader: Arc<Loader>,
    /// Where admissions run: with the calls that go on, not where clients are answered. Has several threads.
    runtime: Handle,
    standing: Arc<Standing>,
    watch: FolderWatch,
    /// When to look again.
    next_scan: Instant,
    /// Before this moment the folder is not looked at again, however much happens in it.
    earliest_scan: Instant,
    files: BTreeMap<String, FileState>,
    versions: AuditedVersions,
    /// Why the folder could not be read when it was last looked at.
    unreadable: Option<String>,
    /// The first admission, of all that was there at the start, has ended.
    complete: bool,
    /// Files whose admission runs now or waits to run.
    busy: BTreeSet<String>,
    tasks: JoinSet<AdmissionAttempt>,
    waiting: Vec<(String, PluginFiles)>,
}

/// What happened to a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceEvent {
    /// It was looked at. What the fence and the names depend on may have changed even if no offer did.
    Scanned {
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
struct AdmissionAttempt {
    file: String,
    found: PluginFiles,
    admitted: Result<AdmittedPlugin, AdmitError>,
    version: Option<AuditedVersion>,
    took: Duration,
}

impl FolderSource {
    /// A source over a folder, which need not exist yet.
    pub fn new(folder: PathBuf, loader: Arc<Loader>, runtime: Handle, standing: Arc<Standing>) -> Self {
        Self {
            watch: FolderWatch::new(folder.clone()),
            folder,
            loader,
            runtime,
            standing,
            next_scan: Instant::now(),
            earliest_scan: Instant::now(),
            files: BTreeMap::new(),
            versions: AuditedVersions::default(),
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
    pub fn offers(&self) -> impl Iterator<Item = (&str, &FacadeOffer)> {
        self.files.iter().map(|(file, state)| (file.as_str(), &state.offer))
    }

    /// The same, for assembly.
    pub fn offers_mut(&mut self) -> OfferMap<'_> {
        self.files.iter_mut().map(|(file, state)| (file.as_str(), &mut state.offer)).collect()
    }

    /// Waits for the next event. Dropping the future loses nothing. Must run on a runtime of several threads.
    pub async fn next_event(&mut self) -> SourceEvent {
        loop {
            let now = Instant::now();
            if self.next_scan <= now {
                let event = block_in_place(|| {
                    self.watch.refresh();
                    self.apply_scan(scan_folder(&self.folder))
                });
                self.earliest_scan = Instant::now() + now.elapsed() * SCAN_FACTOR;
                self.next_scan = now + RESCAN_INTERVAL;
                return event;
            }
            if !self.complete && self.busy.is_empty() {
                self.complete = true;
                return SourceEvent::Complete;
            }
            let settles = self.watch.next_settled();
            let next =
                settles.map_or(self.next_scan, |settles| self.next_scan.min(settles.max(self.earliest_scan)));
            tokio::select! {
                () = self.watch.changed() => self.next_scan = self.next_scan.min(self.earliest_scan),
                () = tokio::time::sleep_until(next) => self.next_scan = next,
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    // An admission that panics is an attempt too; there is no other way not to end.
                    let Ok(attempt) = ended else { continue };
                    if block_in_place(|| self.finish_admission(attempt)) {
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
    fn apply_scan(&mut self, found: io::Result<BTreeMap<String, PluginFiles>>) -> SourceEvent {
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
                LoadStep::Load(file, found) => {
                    self.busy.insert(file.clone());
                    self.waiting.push((file, found));
                }
                LoadStep::Unload(file) => {
                    tracing::info!(file, "removed");
                    if let Some(state) = self.files.get_mut(&file) {
                        state.remove();
                        self.versions.record_removed(&file);
                        self.standing.removed.up();
                        changed = true;
                    }
                }
            }
        }
        // In the order of names, so that a restart does the same.
        self.waiting.sort_by(|a, b| b.0.cmp(&a.0));
        self.start_admissions();
        SourceEvent::Scanned { changed }
    }

    fn start_admissions(&mut self) {
        while self.tasks.len() < MAX_ADMISSIONS
            && let Some((file, found)) = self.waiting.pop()
        {
            let loader = Arc::clone(&self.loader);
            let known = self.files.get(&file).and_then(|state| state.offer.known_surface());
            let attempt = async move {
                let begun = Instant::now();
                let admitted = run_admission(loader.admit(&found, known)).await;
                let version =
                    admitted.as_ref().ok().and_then(|admitted| AuditedVersion::audited(admitted, &found));
                AdmissionAttempt { file, found, admitted, version, took: begun.elapsed() }
            };
            self.tasks.spawn_on(attempt, &self.runtime);
        }
    }

    /// Takes the result of an admission; whether the file's offer may have changed.
    fn finish_admission(&mut self, attempt: AdmissionAttempt) -> bool {
        let AdmissionAttempt { file, found, admitted, version, took } = attempt;
        self.busy.remove(&file);
        let is_changing = matches!(admitted, Err(AdmitError::Changing));
        if is_changing {
            self.watch.mark_writing(&file);
        } else {
            let count = if admitted.is_ok() { &self.standing.loaded } else { &self.standing.failed };
            count.up();
            match (&admitted, version) {
                (Ok(_), Some(version)) => self.versions.record_loaded(&file, version),
                (Ok(_), None) => {}
                (Err(error), _) => self.versions.record_refused(&file, &error.to_string()),
            }
            self.files.entry(file.clone()).or_default().record_attempt(&file, &found, admitted, took);
        }
        self.start_admissions();
        if is_changing || self.busy.is_empty() {
            self.next_scan = self.next_scan.min(self.earliest_scan);
        }
        !is_changing
    }
}

/// Polls an admission as the blocking work that it is (it reads, hashes, maps and checks), so that the other tasks of
/// its thread move to another meanwhile; a panic is the end of this admission only.
async fn run_admission(
    admission: impl Future<Output = Result<AdmittedPlugin, AdmitError>>,
) -> Result<AdmittedPlugin, AdmitError> {
    let mut admission = pin!(admission);
    let polled = poll_fn(|context| block_in_place(|| admission.as_mut().poll(context)));
    AssertUnwindSafe(polled).catch_unwind().await.unwrap_or(Err(AdmitError::Panicked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_blocked_or_panicking_admission_is_isolated() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let blocked = tokio::spawn(run_admission(async move {
            // Only another task of the one thread there is lets this go on.
            receiver.recv_timeout(Duration::from_secs(10)).map_err(io::Error::other)?;
            panic!("as a defect would")
        }));
        tokio::spawn(async move { sender.send(()) });
        assert!(matches!(blocked.await, Ok(Err(AdmitError::Panicked))));
    }
}
