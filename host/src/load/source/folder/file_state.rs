//! State of one file in the folder source.

use std::time::Duration;

use loggia_text::printable;
use tokio::time::Instant;

use crate::load::{
    admit::{AdmitError, AdmittedPlugin},
    offer::FacadeOffer,
    plugin_files::PluginFiles,
};

/// Interval of scans without events: a lost event delays a change by no more.
pub const RESCAN_INTERVAL: Duration = Duration::from_secs(30);
/// A retry waits this many times the duration of the failed attempt.
const RETRY_FACTOR: u32 = 20;

/// State of one file.
#[derive(Default)]
pub struct FileState {
    /// The last version that was admitted or refused; `None` once the file is removed.
    tried: Option<PluginFiles>,
    /// Time from which to retry that version.
    retry: Option<Instant>,
    pub offer: FacadeOffer,
}

impl FileState {
    /// Whether a version need not be admitted (again).
    pub fn is_up_to_date(&self, found: &PluginFiles, now: Instant) -> bool {
        let workflow_file = self.offer.version.as_ref().and_then(|version| version.workflow_file.as_ref());
        self.tried.as_ref().is_some_and(|tried| {
            // A file may refer to other files, and only the folder shows which exist.
            let refers = self.offer.error.is_some()
                || workflow_file.is_none_or(|workflow_file| workflow_file.has_references);
            tried.is_same(found) && (!refers || tried.workflows == found.workflows)
        }) && self.retry.is_none_or(|retry| now < retry)
    }

    /// Whether the last scan found the file.
    pub fn has_file(&self) -> bool {
        self.tried.is_some()
    }

    /// Records the result of an admission and its duration, and logs it.
    pub fn record_attempt(
        &mut self,
        file: &str,
        found: &PluginFiles,
        admitted: Result<AdmittedPlugin, AdmitError>,
        took: Duration,
    ) {
        self.tried = Some(found.clone());
        self.retry = None;
        match admitted {
            Ok(admitted) => {
                log_loaded(file, &admitted);
                self.offer.accept(admitted);
            }
            Err(error) => {
                let before = self.offer.error.take();
                self.offer.reject(&error);
                if let Some(now) = &self.offer.error
                    && before.is_none_or(|before| before.for_operator != now.for_operator)
                {
                    tracing::error!(file, "{}", printable(&now.for_operator));
                }
                self.retry =
                    error.is_transient().then(|| Instant::now() + RESCAN_INTERVAL.max(took * RETRY_FACTOR));
            }
        }
    }

    /// Has the file admitted again by the next scan. The version keeps serving.
    pub fn mark_stale(&mut self) {
        self.retry = Some(Instant::now());
    }

    /// Marks the file as removed.
    pub fn remove(&mut self) {
        self.tried = None;
        self.retry = None;
        self.offer.withdraw();
    }
}

fn log_loaded(file: &str, AdmittedPlugin { entry, workflow_file, facts, .. }: &AdmittedPlugin) {
    let (name, actions) = (&entry.surface().name, entry.surface().actions.len());
    let (digest, took) = (facts.digest.to_string(), facts.took.as_millis());
    let how = facts.method.as_str();
    tracing::info!(file, facade = name, actions, digest = &digest[..12], "loaded ({how}, {took} ms)");
    for warning in workflow_file.iter().flat_map(|workflow_file| workflow_file.warnings()) {
        tracing::warn!(file, "{}", printable(&warning.to_string()));
    }
}
