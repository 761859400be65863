//! State of one file in the folder source.

use std::{mem, time::Duration};

use loggia_text::printable;
use tokio::time::Instant;

use crate::{
    admit::AdmitError,
    offer::{FacadeOffer, OfferedVersion, PinOutcome},
    pins::{PinKeeper, PinnedVersion, pin_key},
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
    /// Whether the version that serves could not be loaded at its first call, since its file has other bytes.
    is_lost: bool,
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

    /// Records the result of an admission and its duration. Logs errors; returns what became of a version.
    pub fn record_attempt(
        &mut self,
        file: &str,
        found: &PluginFiles,
        admitted: Result<OfferedVersion, AdmitError>,
        took: Duration,
        pins: &PinKeeper,
    ) -> PinOutcome {
        self.tried = Some(found.clone());
        self.retry = None;
        match admitted {
            Ok(version) => {
                if mem::take(&mut self.is_lost) {
                    // If the new one waits, its copy takes its place.
                    self.offer.version = None;
                }
                self.offer.arrive(version);
                self.offer.settle(pins)
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
                PinOutcome::Same
            }
        }
    }

    /// Returns the files of the approved version if none is served, and its copies exist.
    pub fn find_approved(&self, pins: &PinKeeper) -> Option<(PinnedVersion, PluginFiles)> {
        let tried = self.tried.as_ref().filter(|_| self.offer.version.is_none() && pins.is_active())?;
        let newer = self.offer.newer.as_ref().and_then(|newer| newer.version.pin.as_ref());
        // A newer policy alone may wait.
        let approved = pins.approved(&pin_key(&tried.path)).into_iter().map(|entry| entry.version);
        let (version, stored) = approved
            .filter(|version| newer != Some(version))
            .find_map(|version| pins.stored_files(&version).map(|stored| (version, stored)))?;
        let has_same_skill = newer.is_some_and(|newer| newer.skill == version.skill);
        let files = tried.with_stored(stored, has_same_skill);
        Some((version, files))
    }

    /// Has the file admitted again by the next scan, since its version could not be loaded at its first call.
    pub fn mark_stale(&mut self) {
        self.retry = Some(Instant::now());
        self.is_lost = true;
    }

    /// Marks the file as removed.
    pub fn remove(&mut self) {
        self.tried = None;
        self.retry = None;
        self.offer.withdraw();
    }
}
