//! What the folder source knows of one file: which version it tried last, and what it offers.

use std::time::Duration;

use loggia_text::printable;
use tokio::time::Instant;

use crate::load::{
    admit::{AdmitError, AdmittedPlugin},
    offer::FacadeOffer,
    plugin_files::PluginFiles,
};

/// A lost event costs at most this long.
pub const RESCAN_INTERVAL: Duration = Duration::from_secs(30);
/// Trying again takes at most this part of the time: what costs a minute waits for twenty.
const RETRY_FACTOR: u32 = 20;

/// One file.
#[derive(Default)]
pub struct FileState {
    /// The version that was tried last, with whatever result; none when the file is gone.
    tried: Option<PluginFiles>,
    /// When that version is worth another try.
    retry: Option<Instant>,
    /// What it offers.
    pub offer: FacadeOffer,
}

impl FileState {
    /// Whether a version need not be tried (again).
    pub fn is_up_to_date(&self, found: &PluginFiles, now: Instant) -> bool {
        let composed = self.offer.version.as_ref().and_then(|version| version.workflow_file.as_ref());
        self.tried.as_ref().is_some_and(|tried| {
            // A file may refer to others, and only the folder says which there are.
            let refers =
                self.offer.error.is_some() || composed.is_none_or(|composed| composed.has_references);
            tried.is_same(found) && (!refers || tried.workflows == found.workflows)
        }) && self.retry.is_none_or(|retry| now < retry)
    }

    /// Whether there was a file when it was last looked for.
    pub fn has_file(&self) -> bool {
        self.tried.is_some()
    }

    /// Takes the result of an admission and how long it took, and logs it.
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

    /// Forgets the file: it is gone.
    pub fn remove(&mut self) {
        self.tried = None;
        self.retry = None;
        self.offer.withdraw();
    }
}

fn log_loaded(file: &str, AdmittedPlugin { entry, workflow_file: composed, facts, .. }: &AdmittedPlugin) {
    let (name, actions) = (&entry.surface().name, entry.surface().actions.len());
    let (digest, took) = (facts.digest.to_string(), facts.took.as_millis());
    let how = match (composed, facts.compiled) {
        (Some(_), _) => "read",
        (None, true) => "compiled",
        (None, false) => "cached",
    };
    tracing::info!(file, facade = name, actions, digest = &digest[..12], "loaded ({how}, {took} ms)");
    for warning in composed.iter().flat_map(|composed| composed.warnings()) {
        tracing::warn!(file, "{}", printable(&warning.to_string()));
    }
}
