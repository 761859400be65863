//! From a folder to the catalog, for as long as the host runs.
//!
//! ```text
//! watch ─▶ scan ─▶ decide (pure) ─▶ admit ─▶ claims (pure) ─▶ catalog.swap
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
//! | `claims.rs` | pure: which file owns which name |

mod admit;
mod claims;
mod decide;
mod scan;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use tokio::{runtime::Handle, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

pub use admit::{AdmitError, Admitted, Facts, Loader};
pub use claims::{Held, slots};
pub use scan::{Found, scan};

use self::{decide::Step, watch::Watch};
use crate::catalog::Catalog;

/// A lost event costs at most this long.
const RESCAN: Duration = Duration::from_secs(30);
/// Plugins that are admitted at once.
const ADMISSIONS: usize = 2;

/// Keeps a catalog true to a folder.
pub struct Reloader {
    folder: PathBuf,
    loader: Arc<Loader>,
    catalog: Arc<Catalog>,
    /// Where admissions run: not where clients are answered.
    runtime: Handle,
    held: BTreeMap<String, Held>,
    /// Files whose admission runs now.
    busy: BTreeSet<String>,
    tasks: JoinSet<(String, Found, Result<Admitted, AdmitError>)>,
    waiting: Vec<(String, Found)>,
}

impl Reloader {
    /// A reloader for a folder, which need not exist yet.
    pub fn new(folder: PathBuf, loader: Arc<Loader>, catalog: Arc<Catalog>, runtime: Handle) -> Self {
        Self {
            folder,
            loader,
            catalog,
            runtime,
            held: BTreeMap::new(),
            busy: BTreeSet::new(),
            tasks: JoinSet::new(),
            waiting: Vec::new(),
        }
    }

    /// Loads what there is, then follows the folder until told to stop.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut watch = Watch::new(self.folder.clone());
        let mut first = true;
        let mut look = true;
        loop {
            if look {
                watch.follow();
                self.look(&watch);
            }
            if first && self.busy.is_empty() {
                first = false;
                self.publish();
                self.catalog.admit();
            }
            let rescan = Instant::now() + RESCAN;
            let next = watch.settles().map_or(rescan, |settles| settles.min(rescan));
            tokio::select! {
                () = stop.cancelled() => return,
                () = watch.changed() => look = true,
                () = tokio::time::sleep_until(next) => look = true,
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    look = self.ended(ended, &mut watch);
                }
            }
        }
    }

    /// Compares the folder with what is held, and begins what has to be done.
    fn look(&mut self, watch: &Watch) {
        let found = match scan(&self.folder) {
            Ok(found) => found,
            // A folder that is not there is an empty one, and so is one that was replaced this very moment.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                tracing::warn!(folder = %self.folder.display(), "the plugin folder cannot be read: {error}");
                return;
            }
        };
        let mut removed = false;
        for step in
            decide::decide(&self.held, &found, |file| self.busy.contains(file) || watch.is_writing(file))
        {
            match step {
                Step::Load(file, found) => {
                    self.busy.insert(file.clone());
                    self.waiting.push((file, found));
                }
                Step::Unload(file) => {
                    tracing::info!(file, "removed");
                    if let Some(held) = self.held.get_mut(&file) {
                        held.remove();
                        removed = true;
                    }
                }
            }
        }
        if removed {
            self.publish();
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
            self.tasks.spawn_on(
                async move {
                    let admitted = loader.admit(&found, old).await;
                    (file, found, admitted)
                },
                &self.runtime,
            );
        }
    }

    /// Takes what an admission came to; whether the folder has to be looked at again.
    fn ended(
        &mut self,
        ended: Result<(String, Found, Result<Admitted, AdmitError>), tokio::task::JoinError>,
        watch: &mut Watch,
    ) -> bool {
        let Ok((file, found, admitted)) = ended else {
            // A panic of the host's own; the log has it. Nothing is known of the file, so it is tried again.
            self.busy.clear();
            return true;
        };
        self.busy.remove(&file);
        let again = matches!(admitted, Err(AdmitError::Changing));
        if again {
            watch.writing(&file);
        } else {
            self.held.entry(file.clone()).or_default().attempted(&file, &found, admitted);
            self.publish();
        }
        self.begin();
        again || self.busy.is_empty()
    }

    fn publish(&self) {
        self.catalog.swap(slots(&self.held));
    }
}
