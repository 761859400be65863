//! The sources that the settings file describes. A further kind has a field of [`SourceSettings`] and is started here.

use std::{path::Path, sync::Arc, time::Duration};

use futures_util::future::{join_all, select_all};
use loggia_policy::settings::Settings;
use loggia_upstream::{TransportSpec, UpstreamRuntimes, UpstreamSpec};

use super::{
    event::SourceEvent,
    offer_source::OfferSource,
    upstream::{UpstreamSource, to_specs},
};
use crate::{
    admit::FacadeStates,
    load_status::LoadStatus,
    offer::{FacadeOffer, OfferMap},
    pins::PinKeeper,
};

/// Time for which a server's first tool list waits for sources with connections.
const GRACE: Duration = Duration::from_secs(5);
/// The same for commands that a person waits for: such sources answer or fail within their own timeouts.
const PATIENT_GRACE: Duration = Duration::from_secs(3600);

/// What the settings say of sources.
#[derive(Debug, Clone)]
pub struct SourceSettings {
    upstreams: Vec<UpstreamSpec>,
    /// Time for which the first catalog waits for them.
    grace: Duration,
}

impl Default for SourceSettings {
    fn default() -> Self {
        Self { upstreams: Vec::new(), grace: GRACE }
    }
}

impl SourceSettings {
    /// Reads the sources from the settings.
    pub fn new(settings: &Settings) -> Self {
        Self { upstreams: to_specs(&settings.upstream), ..Self::default() }
    }

    /// The same, for a command that a person waits for.
    #[must_use]
    pub fn patient(self) -> Self {
        Self { grace: PATIENT_GRACE, ..self }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.upstreams.is_empty()
    }

    /// Whether any of them is a child of this process.
    pub fn has_children(&self) -> bool {
        self.upstreams.iter().any(|spec| matches!(spec.transport, TransportSpec::Stdio(_)))
    }
}

/// The sources of the settings, as one.
pub struct ConfiguredSources(Vec<Box<dyn OfferSource>>);

impl ConfiguredSources {
    /// Starts all sources on these runtimes. Their policies are in `folder`, by name. Offers that take longer than the grace time are
    /// listed when they are ready.
    pub fn start(
        settings: &SourceSettings,
        folder: &Path,
        runtimes: &UpstreamRuntimes,
        load_status: Arc<LoadStatus>,
        (states, pins): (&Arc<FacadeStates>, &Arc<PinKeeper>),
    ) -> Self {
        let upstreams = settings.upstreams.clone();
        let grace = settings.grace;
        let upstreams =
            UpstreamSource::start(upstreams, folder, runtimes, load_status, (states, pins), grace);
        Self(vec![Box::new(upstreams)])
    }

    /// Counts the sources, each of which reports `Complete` once.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Iterates over all offers by key.
    pub fn offers(&self) -> impl Iterator<Item = (&str, &FacadeOffer)> {
        self.0.iter().flat_map(|source| source.offers())
    }

    /// Returns all offers for assembly.
    pub fn offers_mut(&mut self) -> OfferMap<'_> {
        self.0.iter_mut().flat_map(|source| source.offers_mut()).collect()
    }

    /// Decides again about versions that wait, since the lock was changed; returns whether an offer changed.
    pub fn settle_pins(&mut self) -> bool {
        // All of them, whichever changed.
        self.0.iter_mut().filter_map(|source| source.settle_pins().then_some(())).count() > 0
    }

    /// Waits for the next event of any source. Cancel-safe. Requires a multi-threaded runtime.
    pub async fn next_event(&mut self) -> SourceEvent {
        select_all(self.0.iter_mut().map(|source| source.next_event())).await.0
    }

    /// Waits until each offer has a version or an error, for commands that load once.
    pub async fn settle(&mut self) {
        join_all(self.0.iter_mut().map(|source| source.settle())).await;
    }

    /// Ends all connections.
    pub async fn stop(self) {
        join_all(self.0.into_iter().map(OfferSource::stop)).await;
    }
}
