//! All sources of a host as one.

use std::path::Path;

use super::{configured::ConfiguredSources, event::SourceEvent, folder::FolderSource};
use crate::offer::{FacadeOffer, OfferMap};

/// The plugin folder and what the settings name.
pub struct SourceSet {
    folder: FolderSource,
    configured: ConfiguredSources,
    /// Sources whose initial offers are not complete.
    incomplete: usize,
}

impl SourceSet {
    /// Combines sources.
    pub fn new(folder: FolderSource, configured: ConfiguredSources) -> Self {
        Self { incomplete: 1 + configured.count(), folder, configured }
    }

    /// Path of the plugin folder.
    pub fn folder(&self) -> &Path {
        self.folder.folder()
    }

    /// Error of the last scan of the folder.
    pub fn unreadable(&self) -> Option<&str> {
        self.folder.unreadable()
    }

    /// Iterates over all offers by key.
    pub fn offers(&self) -> impl Iterator<Item = (&str, &FacadeOffer)> {
        self.folder.offers().chain(self.configured.offers())
    }

    /// Returns all offers for assembly.
    pub fn offers_mut(&mut self) -> OfferMap<'_> {
        let mut offers = self.folder.offers_mut();
        offers.append(&mut self.configured.offers_mut());
        offers
    }

    /// Decides again about versions that wait, since the lock was changed; returns whether an offer may have changed.
    pub fn settle_pins(&mut self) -> bool {
        let folder = self.folder.settle_pins();
        self.configured.settle_pins() || folder
    }

    /// Waits for the next event of any source. Reports `Complete` once all sources have. Cancel-safe. Requires a
    /// multi-threaded runtime.
    pub async fn next_event(&mut self) -> SourceEvent {
        loop {
            let event = tokio::select! {
                biased;
                event = self.folder.next_event() => event,
                event = self.configured.next_event() => event,
            };
            if event == SourceEvent::Complete {
                self.incomplete = self.incomplete.saturating_sub(1);
                if self.incomplete > 0 {
                    continue;
                }
            }
            return event;
        }
    }

    /// Cancels all admissions and ends all connections.
    pub async fn stop(self) {
        tokio::join!(self.folder.stop(), self.configured.stop());
    }
}
