//! The plugin folder as a source of offers.
//!
//! ```text
//! watch ─▶ scan ─▶ decide (pure) ─▶ admit ─▶ offers
//! ```
//!
//! Any event leads to a scan of the whole folder, so a lost event delays a change but cannot lose it. A version that
//! fails any step leaves the old one serving.
//!
//! | file | concept |
//! |---|---|
//! | `watch.rs` | file system events, reduced to "scan again" and "this file is being written" |
//! | `scan.rs` | lists the folder |
//! | `decide.rs` | pure: what to load and unload |
//! | `file_state.rs` | what is known of one file |

mod decide;
mod file_state;
mod scan;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    future::poll_fn,
    io,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use futures_util::FutureExt;
use loggia_facade::Surface;
use loggia_sandbox::ArtifactDigest;
use loggia_text::printable;
use tokio::{
    runtime::Handle,
    task::{JoinHandle, JoinSet, block_in_place},
    time::Instant,
};

pub use self::scan::{find_plugin, scan_folder};
use self::{
    decide::LoadStep,
    file_state::{FileState, RESCAN_INTERVAL},
    watch::FolderWatch,
};
use crate::{
    admit::{AdmitError, AdmittedPlugin, PluginAdmitter},
    load_status::LoadStatus,
    offer::{FacadeOffer, OfferMap, OfferedVersion, PinOutcome},
    pins::{PinDecision, PinKeeper, PinnedVersion, describe},
    plugin_files::PluginFiles,
    source::{event::SourceEvent, versions::AuditedVersions},
};

/// Maximum number of concurrent admissions.
const MAX_ADMISSIONS: usize = 2;
/// Maximum number of files that one task admits in turn if the index has their surfaces: each takes less time than a change of threads.
const MAX_INDEXED: usize = 16;
/// A scan is followed by a pause of this many times its duration, however much happens in the folder.
const SCAN_FACTOR: u32 = 10;

/// Follows a folder and admits its files.
pub struct FolderSource {
    folder: PathBuf,
    admitter: Arc<PluginAdmitter>,
    pins: Arc<PinKeeper>,
    /// Runtime of admissions: that of calls, not the one that serves clients. Multi-threaded.
    runtime: Handle,
    load_status: Arc<LoadStatus>,
    watch: FolderWatch,
    /// Time of the next scan.
    next_scan: Instant,
    /// Earliest time of the next scan, however much happens in the folder.
    earliest_scan: Instant,
    files: BTreeMap<String, FileState>,
    versions: AuditedVersions,
    /// Error of the last scan.
    unreadable: Option<String>,
    /// Whether all files of the initial scan were admitted.
    complete: bool,
    /// Files that are being admitted, or wait for it.
    busy: BTreeSet<String>,
    tasks: JoinSet<Vec<AdmissionAttempt>>,
    /// Writes the index of surfaces.
    saving: Option<JoinHandle<()>>,
    waiting: Vec<(String, PluginFiles)>,
}

/// A file to admit, with digest and surface of its version.
type PlannedAdmission = (String, PluginFiles, Option<(ArtifactDigest, Arc<Surface>)>);

/// The result of an admission.
struct AdmissionAttempt {
    file: String,
    found: PluginFiles,
    admitted: Result<OfferedVersion, AdmitError>,
    /// The approved version, if it is admitted from its copies.
    approved: Option<PinnedVersion>,
    took: Duration,
}

impl FolderSource {
    /// Creates a source for a folder, which need not exist yet.
    pub fn new(
        folder: PathBuf,
        admitter: Arc<PluginAdmitter>,
        pins: Arc<PinKeeper>,
        runtime: Handle,
        load_status: Arc<LoadStatus>,
    ) -> Self {
        Self {
            watch: FolderWatch::new(folder.clone()),
            folder,
            admitter,
            pins,
            runtime,
            load_status,
            next_scan: Instant::now(),
            earliest_scan: Instant::now(),
            files: BTreeMap::new(),
            versions: AuditedVersions::default(),
            unreadable: None,
            complete: false,
            busy: BTreeSet::new(),
            tasks: JoinSet::new(),
            saving: None,
            waiting: Vec::new(),
        }
    }

    /// Path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Error of the last scan.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Iterates over its offers by file name.
    pub fn offers(&self) -> impl Iterator<Item = (&str, &FacadeOffer)> {
        self.files.iter().map(|(file, state)| (file.as_str(), &state.offer))
    }

    /// Returns its offers for assembly.
    pub fn offers_mut(&mut self) -> OfferMap<'_> {
        self.files.iter_mut().map(|(file, state)| (file.as_str(), &mut state.offer)).collect()
    }

    /// Waits for the next event. Cancel-safe. Requires a multi-threaded runtime.
    pub async fn next_event(&mut self) -> SourceEvent {
        let stale = Arc::clone(self.admitter.stale());
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
                () = stale.added() => self.next_scan = Instant::now(),
                () = self.watch.changed() => self.next_scan = self.next_scan.min(self.earliest_scan),
                () = tokio::time::sleep_until(next) => self.next_scan = next,
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    // A panicking admission is caught and yields an attempt; tasks cannot end otherwise.
                    let Ok(attempts) = ended else { continue };
                    if block_in_place(|| self.finish_admissions(attempts)) {
                        return SourceEvent::Admitted;
                    }
                }
            }
        }
    }

    /// Cancels all admissions. Waits until what is known of the surfaces is written: the next start is faster by it.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
        if let Some(saving) = self.saving.take() {
            let _ = saving.await;
        }
    }

    /// Compares a scan with the known files and starts what has to be done.
    fn apply_scan(&mut self, found: io::Result<BTreeMap<String, PluginFiles>>) -> SourceEvent {
        let found = match found {
            Ok(mut found) => {
                found.retain(|_, found| !self.admitter.is_guard(&found.path));
                found
            }
            // A missing folder is empty, and so is one that is being replaced.
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                tracing::warn!(folder = %self.folder.display(), "the plugin folder cannot be read: {error}");
                self.unreadable = Some(format!("the plugin folder cannot be read: {error}"));
                return SourceEvent::Unreadable;
            }
        };
        let mut changed = self.unreadable.take().is_some();
        for path in self.admitter.stale().take() {
            let file = path.file_name().and_then(OsStr::to_str);
            if let Some(state) = file.and_then(|file| self.files.get_mut(file)) {
                state.mark_stale();
            }
        }
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
                        self.load_status.removed.increment();
                        changed = true;
                    }
                }
            }
        }
        // Sorted by name, so that a restart has the same result.
        self.waiting.sort_by(|a, b| b.0.cmp(&a.0));
        self.start_admissions();
        SourceEvent::Scanned { changed }
    }

    fn start_admissions(&mut self) {
        while self.tasks.len() < MAX_ADMISSIONS
            && let Some(batch) = self.next_batch()
        {
            let (admitter, pins) = (Arc::clone(&self.admitter), Arc::clone(&self.pins));
            let attempts = async move {
                let mut attempts = Vec::with_capacity(batch.len());
                for (file, found, known) in batch {
                    let begun = Instant::now();
                    let admission = async {
                        let admitted = admitter.admit_indexed(&found, known).await?;
                        Ok(keep_version(&pins, &found, admitted))
                    };
                    let admitted = catch_panic(admission).await;
                    let took = begun.elapsed();
                    attempts.push(AdmissionAttempt { file, found, admitted, approved: None, took });
                }
                attempts
            };
            self.tasks.spawn_on(run_in_place(attempts), &self.runtime);
        }
    }

    /// Takes the next file that waits, with those behind it if the index has them all: what is compiled would delay the others.
    fn next_batch(&mut self) -> Option<Vec<PlannedAdmission>> {
        let mut batch = Vec::new();
        while batch.len() < MAX_INDEXED
            && let Some((file, found)) = self.waiting.last()
        {
            let known = self.files.get(file).and_then(|state| state.offer.known_surface());
            let is_indexed = known.is_none() && self.admitter.index().contains(found);
            if !is_indexed && !batch.is_empty() {
                break;
            }
            batch.extend(self.waiting.pop().map(|(file, found)| (file, found, known)));
            if !is_indexed {
                break;
            }
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// Decides again about versions that wait, since the lock was changed; returns whether an offer may have changed.
    pub fn settle_pins(&mut self) -> bool {
        let mut changed = false;
        let files: Vec<String> = self.files.keys().cloned().collect();
        for file in files {
            let Some(state) = self.files.get_mut(&file) else { continue };
            let outcome = state.offer.settle(&self.pins);
            changed |= outcome != PinOutcome::Same;
            self.versions.record_outcome(&file, &state.offer, outcome, &self.pins);
            self.restore_approved(&file);
        }
        changed
    }

    /// Admits the approved version of a file, of which none is served, from its copies.
    fn restore_approved(&mut self, file: &str) {
        let state = self.files.get(file).filter(|_| !self.busy.contains(file));
        let Some((approved, found)) = state.and_then(|state| state.find_approved(&self.pins)) else { return };
        let (admitter, pins) = (Arc::clone(&self.admitter), Arc::clone(&self.pins));
        let file = file.to_owned();
        self.busy.insert(file.clone());
        let attempt = async move {
            let begun = Instant::now();
            let admission = async {
                let admitted = admitter.admit(&found, None).await?;
                let pin = describe(&pins, &found.path, &admitted);
                Ok(OfferedVersion::new(admitted, pin))
            };
            let admitted = catch_panic(admission).await;
            vec![AdmissionAttempt { file, found, admitted, approved: Some(approved), took: begun.elapsed() }]
        };
        self.tasks.spawn_on(run_in_place(attempt), &self.runtime);
    }

    /// Takes the approved version of a file; returns whether it serves.
    fn finish_restore(
        &mut self,
        file: &str,
        approved: &PinnedVersion,
        admitted: Result<OfferedVersion, AdmitError>,
    ) -> bool {
        let name = &approved.name;
        let version = match admitted {
            Ok(version) => version,
            Err(error) => {
                let error = error.to_string();
                tracing::error!(
                    file,
                    facade = name,
                    "the approved version cannot be served: {}",
                    printable(&error)
                );
                return false;
            }
        };
        let is_approved = version.pin.as_ref().is_some_and(|pin| {
            pin.artifact == approved.artifact
                && matches!(
                    self.pins.decide(pin, version.grants.name_given),
                    PinDecision::Serve | PinDecision::Record
                )
        });
        match self.files.get_mut(file).filter(|state| state.has_file() && state.offer.version.is_none()) {
            Some(state) if is_approved => {
                tracing::info!(file, facade = name, "the approved version serves; its file was replaced");
                state.offer.restore(version);
                self.versions.record_outcome(file, &state.offer, PinOutcome::Accepted, &self.pins);
                true
            }
            Some(_) => {
                tracing::error!(
                    file,
                    facade = name,
                    "the copy of the approved version was changed: it is not served"
                );
                false
            }
            None => false,
        }
    }

    /// Takes the results of an admission, and starts the next; returns whether an offer may have changed.
    fn finish_admissions(&mut self, attempts: Vec<AdmissionAttempt>) -> bool {
        let changed =
            attempts.into_iter().fold(false, |changed, attempt| self.take_attempt(attempt) | changed);
        self.start_admissions();
        if self.busy.is_empty() {
            let index = Arc::clone(self.admitter.index());
            index.release();
            if index.has_changes() {
                self.saving = Some(self.runtime.spawn_blocking(move || index.save()));
            }
            self.next_scan = self.next_scan.min(self.earliest_scan);
        }
        changed
    }

    /// Takes the result for a file; returns whether its offer may have changed.
    fn take_attempt(&mut self, attempt: AdmissionAttempt) -> bool {
        let AdmissionAttempt { file, found, admitted, approved, took } = attempt;
        self.busy.remove(&file);
        if let Some(approved) = approved {
            let serves = self.finish_restore(&file, &approved, admitted);
            self.next_scan = self.next_scan.min(self.earliest_scan);
            return serves;
        }
        if matches!(admitted, Err(AdmitError::Changing)) {
            self.watch.mark_writing(&file);
            self.next_scan = self.next_scan.min(self.earliest_scan);
            return false;
        }
        let count = if admitted.is_ok() { &self.load_status.loaded } else { &self.load_status.failed };
        count.increment();
        if let Err(error) = &admitted {
            self.versions.record_refused(&file, &error.to_string());
        }
        let state = self.files.entry(file.clone()).or_default();
        let outcome = state.record_attempt(&file, &found, admitted, took, &self.pins);
        self.versions.record_outcome(&file, &state.offer, outcome, &self.pins);
        self.restore_approved(&file);
        true
    }
}

/// Describes an admitted version, and keeps its files.
fn keep_version(pins: &PinKeeper, found: &PluginFiles, admitted: AdmittedPlugin) -> OfferedVersion {
    let pin = describe(pins, &found.path, &admitted);
    if let Some(pin) = &pin {
        pins.keep(pin, Some(found), admitted.entry.facade.surface());
    }
    OfferedVersion::new(admitted, pin)
}

/// Polls an admission as blocking work (it reads, hashes, maps and checks), so that other tasks move to another thread.
async fn run_in_place<T>(admission: impl Future<Output = T>) -> T {
    let mut admission = pin!(admission);
    poll_fn(|context| block_in_place(|| admission.as_mut().poll(context))).await
}

/// Lets a panic fail the admission of one file only.
async fn catch_panic<T>(admission: impl Future<Output = Result<T, AdmitError>>) -> Result<T, AdmitError> {
    AssertUnwindSafe(admission).catch_unwind().await.unwrap_or(Err(AdmitError::Panicked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_blocked_or_panicking_admission_is_isolated() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let blocked = tokio::spawn(run_in_place(catch_panic::<()>(async move {
            // Blocks until the other task runs on the only thread.
            receiver.recv_timeout(Duration::from_secs(10)).map_err(io::Error::other)?;
            panic!("as a defect would")
        })));
        tokio::spawn(async move { sender.send(()) });
        assert!(matches!(blocked.await, Ok(Err(AdmitError::Panicked))));
    }
}
