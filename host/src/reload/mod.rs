//! From a folder to the catalog, for as long as the host runs.
//!
//! ```text
//! watch ─▶ scan ─▶ decide (pure) ─▶ admit ─▶ survey ─▶ fence, claims (pure) ─▶ catalog.swap
//! ```
//!
//! Any event leads to a scan of the whole folder, so that a lost event costs time and never truth: the folder as it
//! is decides, not the story of how it came to be. A version that fails any step leaves the old one serving.
//!
//! | file | concept |
//! |---|---|
//! | `watch.rs` | file system events, reduced to "look again" and "somebody is still writing this" |
//! | `scan.rs` | the folder at one moment |
//! | `decide.rs` | pure: what to load and what to unload |
//! | `admit.rs` | one plugin: read, compile, check, describe, sanitise |
//! | `compose.rs` | one file of workflows: read, check, and what it is beside the facades that it calls |
//! | `fence.rs` | pure: which directories no plugin may be granted |
//! | `survey.rs` | where what the host trusts is: the fence of the whole folder, as it is now |
//! | `granted.rs` | what a version was granted of what the fence is about |
//! | `held.rs` | what is known of one file |
//! | `owners.rs` | who owns which name, for good: pure, and its file in the state folder |
//! | `claims.rs` | pure: which file serves which name |
//! | `standing.rs` | how the files stand, for whoever runs the host |
//! | `versions.rs` | which versions are loaded, for the audit trail |

mod admit;
mod claims;
mod compose;
mod decide;
mod fence;
mod granted;
mod held;
mod owners;
mod scan;
mod standing;
mod survey;
mod versions;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::poll_fn,
    io,
    panic::AssertUnwindSafe,
    path::PathBuf,
    pin::pin,
    sync::Arc,
    time::Duration,
};

pub use admit::{AdmitError, Admitted, Facts, Loader};
pub use claims::{Claim, Owners};
pub use compose::{BlockedWorkflow, Composed, settle};
use futures_util::FutureExt;
use loggia_gate::catalog::Catalog;
use loggia_text::printable;
pub use scan::{Found, Kind, scan, stem};
pub use standing::{Report, Standing, Stands, State};
pub use survey::TrustPlaces;
use tokio::{
    runtime::Handle,
    task::{JoinSet, block_in_place},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use self::{
    decide::Step,
    held::Held,
    owners::NameRecord,
    versions::{Version, Versions},
    watch::Watch,
};

/// A lost event costs at most this long.
const RESCAN: Duration = Duration::from_secs(30);
/// Plugins that are admitted at once.
const ADMISSIONS: usize = 2;
/// Looking takes at most this part of a thread's time, however much happens in the folder.
const LOOKS: u32 = 10;

/// Keeps a catalog true to a folder.
pub struct Reloader {
    folder: PathBuf,
    loader: Arc<Loader>,
    catalog: Arc<Catalog>,
    /// Where admissions run: with the calls that go on, not where clients are answered. Has several threads.
    runtime: Handle,
    held: BTreeMap<String, Held>,
    owners: Owners,
    /// Who owns which name, as it was last read.
    record: NameRecord,
    /// The files that serve no more since the fence refuses what they are granted, with the sentence that the log was told.
    fenced: BTreeMap<String, String>,
    /// The files that another keeps from serving, with the sentence that the log was told.
    refused: BTreeMap<String, String>,
    /// The workflows that cannot run now, by file, with the sentences that the log was told.
    unavailable: BTreeMap<String, Vec<String>>,
    /// Why the folder itself could not be read when it was last looked at.
    unreadable: Option<String>,
    /// How all of it stands, for others.
    standing: Arc<Standing>,
    versions: Versions,
    /// The first admission, of all that was there at the start, has ended.
    started: bool,
    /// Files whose admission runs now.
    busy: BTreeSet<String>,
    tasks: JoinSet<Attempt>,
    waiting: Vec<(String, Found)>,
}

/// One admission that has ended.
struct Attempt {
    file: String,
    found: Found,
    admitted: Result<Admitted, AdmitError>,
    version: Option<Version>,
    took: Duration,
}

impl Reloader {
    /// A reloader for a folder, which need not exist yet.
    pub fn new(
        folder: PathBuf,
        loader: Arc<Loader>,
        catalog: Arc<Catalog>,
        runtime: Handle,
        standing: Arc<Standing>,
    ) -> Self {
        Self {
            folder,
            loader,
            catalog,
            runtime,
            held: BTreeMap::new(),
            owners: Owners::default(),
            record: NameRecord::default(),
            fenced: BTreeMap::new(),
            refused: BTreeMap::new(),
            unavailable: BTreeMap::new(),
            unreadable: None,
            standing,
            versions: Versions::default(),
            started: false,
            busy: BTreeSet::new(),
            tasks: JoinSet::new(),
            waiting: Vec::new(),
        }
    }

    /// Loads what there is, then follows the folder until told to stop. Must run on a runtime of several threads.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut watch = Watch::new(self.folder.clone());
        // When to look, and before when not to.
        let (mut due, mut rested) = (Instant::now(), Instant::now());
        loop {
            let now = Instant::now();
            if due <= now {
                let found = block_in_place(|| {
                    watch.follow();
                    scan(&self.folder)
                });
                block_in_place(|| self.look(found, &watch));
                rested = Instant::now() + now.elapsed() * LOOKS;
                due = now + RESCAN;
            }
            if !self.started && self.busy.is_empty() {
                self.started = true;
                block_in_place(|| self.publish());
                self.catalog.admit();
            }
            let next = watch.settles().map_or(due, |settles| due.min(settles.max(rested)));
            tokio::select! {
                () = stop.cancelled() => return self.tasks.shutdown().await,
                () = watch.changed() => due = due.min(rested),
                () = tokio::time::sleep_until(next) => due = next,
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    // An admission that panics is an attempt too; there is no other way not to end.
                    let again = |attempt| block_in_place(|| self.ended(attempt, &mut watch));
                    if ended.is_ok_and(again) {
                        due = due.min(rested);
                    }
                }
            }
        }
    }

    /// Compares the folder with what is held, and begins what has to be done.
    fn look(&mut self, found: io::Result<BTreeMap<String, Found>>, watch: &Watch) {
        let found = match found {
            Ok(found) => found,
            // A folder that is not there is an empty one, and so is one that was replaced this very moment.
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                tracing::warn!(folder = %self.folder.display(), "the plugin folder cannot be read: {error}");
                self.unreadable = Some(format!("the plugin folder cannot be read: {error}"));
                self.report();
                return;
            }
        };
        let was_unreadable = self.unreadable.take().is_some();
        // What the fence and the names depend on may have changed though no plugin did.
        let mut changed =
            self.started && (self.survey() != self.fenced || self.loader.names() != self.record);
        let unsettled = |file: &str| self.busy.contains(file) || watch.is_writing(file);
        for step in decide::decide(&self.held, &found, Instant::now(), unsettled) {
            match step {
                Step::Load(file, found) => {
                    self.busy.insert(file.clone());
                    self.waiting.push((file, found));
                }
                Step::Unload(file) => {
                    tracing::info!(file, "removed");
                    if let Some(held) = self.held.get_mut(&file) {
                        held.remove();
                        self.versions.removed(&file);
                        self.standing.removed.up();
                        changed = true;
                    }
                }
            }
        }
        if changed {
            self.publish();
        } else if was_unreadable {
            self.report();
        }
        // In the order of names, so that a restart does the same.
        self.waiting.sort_by(|a, b| b.0.cmp(&a.0));
        self.begin();
    }

    fn begin(&mut self) {
        while self.tasks.len() < ADMISSIONS
            && let Some((file, found)) = self.waiting.pop()
        {
            let (loader, old) = (Arc::clone(&self.loader), self.held.get(&file).and_then(Held::known));
            let attempt = async move {
                let begun = Instant::now();
                let admitted = contained(loader.admit(&found, old)).await;
                let version = admitted.as_ref().ok().and_then(|admitted| Version::of(admitted, &found));
                Attempt { file, found, admitted, version, took: begun.elapsed() }
            };
            self.tasks.spawn_on(attempt, &self.runtime);
        }
    }

    /// Takes what an admission came to; whether the folder has to be looked at again.
    fn ended(&mut self, attempt: Attempt, watch: &mut Watch) -> bool {
        let Attempt { file, found, admitted, version, took } = attempt;
        self.busy.remove(&file);
        let again = matches!(admitted, Err(AdmitError::Changing));
        if again {
            watch.writing(&file);
        } else {
            let count = if admitted.is_ok() { &self.standing.loaded } else { &self.standing.failed };
            count.up();
            match (&admitted, version) {
                (Ok(_), Some(version)) => self.versions.loaded(&file, version),
                (Ok(_), None) => {}
                (Err(error), _) => self.versions.refused(&file, &error.to_string()),
            }
            self.held.entry(file.clone()).or_default().attempted(&file, &found, admitted, took);
            self.publish();
        }
        self.begin();
        again || self.busy.is_empty()
    }

    fn publish(&mut self) {
        self.swap();
        self.report();
    }

    /// Tells others how all of it stands.
    fn report(&self) {
        let files = self.held.iter().filter_map(|(file, held)| {
            let mut stands = held.stands(file)?;
            if let Some(refusal) = self.fenced.get(file) {
                (stands.state, stands.why) = (State::Failed, Some(refusal.clone()));
            } else if let Some(refusal) = self.refused.get(file) {
                (stands.state, stands.why) = (State::Refused, Some(refusal.clone()));
            } else if let (State::Serving, Some(said)) = (stands.state, self.unavailable.get(file)) {
                stands.why = Some(said.join("; "));
            }
            Some(stands)
        });
        self.standing.set(Report { folder: self.unreadable.clone(), files: files.collect() });
    }

    /// Looks where all that the fence is about is now: the files that serve and are granted what it refuses, with the
    /// reason. The same set of files has the same result, whatever the order in which they came.
    fn survey(&self) -> BTreeMap<String, String> {
        let dirs = |held: &Held| held.grants().is_some_and(|grants| !grants.dirs.is_empty());
        if !self.held.values().any(dirs) {
            return BTreeMap::new();
        }
        let fence = self.loader.survey(&self.folder, self.held.values().filter_map(Held::paths));
        let mut refused = BTreeMap::new();
        for (file, held) in &self.held {
            let Some(grants) = held.grants() else { continue };
            let refusal = match &fence {
                Ok(fence) => grants.dirs.iter().find_map(|dir| dir.breach(fence)),
                Err(error) if !grants.dirs.is_empty() => {
                    let said =
                        format!("not served: what its directories must not reach cannot be found: {error}");
                    refused.insert(file.clone(), said);
                    continue;
                }
                Err(_) => None,
            };
            let Some(refusal) = refusal else { continue };
            refused.insert(file.clone(), format!("not served: {refusal}"));
        }
        refused
    }

    /// Decides who serves which name, and has it recorded for good.
    fn own(&mut self) {
        // Until all that was there at the start has been looked at, nobody has come first.
        if !self.started {
            self.record = self.loader.names().before_all_are_known();
            self.owners = Owners::of(claims::claims(&self.held), &Owners::default(), &self.record);
            return;
        }
        let before = std::mem::take(&mut self.owners);
        self.record = self.loader.names();
        self.owners = Owners::of(claims::claims(&self.held), &before, &self.record);
        let news = self.owners.unrecorded(&self.record);
        if !news.is_empty() {
            // Another host may have been first.
            self.record = self.loader.record_names(&news);
            self.owners = Owners::of(claims::claims(&self.held), &before, &self.record);
        }
    }

    fn swap(&mut self) {
        self.own();
        let fenced = self.survey();
        for (file, said) in &fenced {
            if self.fenced.get(file) != Some(said) {
                tracing::error!(file, "{}", printable(said));
            }
        }
        for file in self.fenced.keys().filter(|file| !fenced.contains_key(*file)) {
            tracing::info!(file, "its policy no longer grants what no plugin may have");
        }
        self.fenced = fenced;
        let slots = claims::slots(&self.held, &self.owners, &self.fenced);
        if !self.started {
            // What workflows are beside others is found once, when all are there: a run looks for itself.
            return self.catalog.swap(slots);
        }
        let (slots, unavailable) = claims::compose(&mut self.held, slots);
        self.catalog.swap(slots);
        let refusals = claims::claims(&self.held).filter(|claim| claim.loads).filter_map(|claim| {
            let refusal = self.owners.refusal(claim.file, claim.name)?;
            Some((claim.file.to_owned(), refusal))
        });
        let refusals: BTreeMap<_, _> = refusals.collect();
        for (file, refusal) in &refusals {
            if self.refused.get(file) != Some(refusal) {
                tracing::warn!(file, "{refusal}");
            }
        }
        self.refused = refusals;
        for (file, said) in &unavailable {
            let before = self.unavailable.get(file).map_or(&[][..], Vec::as_slice);
            for said in said.iter().filter(|said| !before.contains(said)) {
                tracing::warn!(file, "{}", printable(said));
            }
        }
        self.unavailable = unavailable;
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
