//! One upstream: its server, its policy, and its offer.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use loggia_text::printable;
use loggia_upstream::{UpstreamEvent, UpstreamFacade, UpstreamRuntimes, UpstreamServer, UpstreamSpec};
use tokio::sync::watch;

use crate::{
    admit::{AdmitError, AdmittedPlugin, FacadeStates, PolicyFile, admit_upstream, read_policy},
    offer::{FacadeOffer, OfferedVersion, PinOutcome},
    pins::{PinKeeper, describe},
    plugin_files::PolicyStamp,
    source::versions::AuditedVersions,
};

/// One upstream.
pub struct UpstreamEntry {
    server: UpstreamServer,
    events: watch::Receiver<UpstreamEvent>,
    /// The tools that were listed last, to be admitted again if the policy changes.
    facade: Option<Arc<UpstreamFacade>>,
    policy: PathBuf,
    /// State of the facade, if its calls carry credentials of callers.
    states: Arc<FacadeStates>,
    pins: Arc<PinKeeper>,
    /// The policy that was applied last.
    stamp: PolicyStamp,
    /// Whether the server has answered, or failed to.
    answered: bool,
    versions: AuditedVersions,
    pub offer: FacadeOffer,
}

impl UpstreamEntry {
    /// Starts an upstream. Its policy is in `folder`.
    pub fn start(
        spec: UpstreamSpec,
        folder: &Path,
        runtimes: &UpstreamRuntimes,
        states: Arc<FacadeStates>,
        pins: Arc<PinKeeper>,
    ) -> Self {
        let name = spec.name.clone();
        let policy = folder.join(format!("{name}.toml"));
        // Neither served nor refused until the server has answered, so that calls wait for it.
        let offer = FacadeOffer { reserved: Some(name), is_present: true, ..FacadeOffer::default() };
        let server = UpstreamServer::start(spec, runtimes);
        let events = server.events();
        let stamp = PolicyStamp::read(&policy);
        Self {
            server,
            events,
            facade: None,
            policy,
            states,
            pins,
            stamp,
            answered: false,
            versions: AuditedVersions::default(),
            offer,
        }
    }

    /// Whether the server has answered, or failed to.
    pub fn has_answered(&self) -> bool {
        self.answered
    }

    /// Makes the facade unavailable until the server answers. No effect once it has.
    pub fn stop_waiting(&mut self, key: &str) {
        if !self.answered {
            self.offer.reject(&AdmitError::UpstreamStarting);
            tracing::warn!(file = key, "{}", AdmitError::UpstreamStarting);
        }
    }

    /// Waits until the server has news. Cancel-safe.
    pub async fn changed(&mut self) {
        if self.events.changed().await.is_err() {
            std::future::pending().await
        }
    }

    /// Applies the server's latest event. Returns whether a version was admitted; `None` if nothing changed.
    pub fn apply_event(&mut self, key: &str) -> Option<bool> {
        let event = self.events.borrow_and_update().clone();
        match event {
            UpstreamEvent::Starting => None,
            UpstreamEvent::Ready(facade) => {
                self.answered = true;
                self.facade = Some(facade);
                Some(self.admit(key))
            }
            UpstreamEvent::Unavailable(reason) => {
                self.answered = true;
                self.reject(key, &AdmitError::Upstream(reason));
                Some(false)
            }
        }
    }

    /// Applies the policy if its file changed. Returns whether a version was admitted; `None` if nothing changed.
    pub fn apply_policy(&mut self, key: &str) -> Option<bool> {
        let stamp = PolicyStamp::read(&self.policy);
        if stamp == self.stamp {
            return None;
        }
        self.stamp = stamp;
        self.facade.is_some().then(|| self.admit(key))
    }

    /// Ends the server.
    pub async fn stop(self) {
        self.server.stop().await;
    }

    fn admit(&mut self, key: &str) -> bool {
        let Some(facade) = self.facade.clone() else { return false };
        let policy = match self.stamp {
            PolicyStamp::None => Ok(PolicyFile::default()),
            _ => read_policy(&self.policy),
        };
        match policy.and_then(|policy| admit_upstream(key, facade, policy, &self.states)) {
            Ok(admitted) => {
                self.accept(key, admitted);
                true
            }
            Err(error) => {
                self.reject(key, &error);
                false
            }
        }
    }

    fn accept(&mut self, key: &str, admitted: AdmittedPlugin) {
        let pin = describe(&self.pins, Path::new(key), &admitted);
        if let Some(pin) = &pin {
            self.pins.keep(pin, None, admitted.entry.facade.surface());
        }
        self.offer.arrive(OfferedVersion::new(admitted, pin));
        self.settle_pin(key);
    }

    /// Decides about the version that arrived, or waits; returns whether the offer changed.
    pub fn settle_pin(&mut self, key: &str) -> bool {
        let outcome = self.offer.settle(&self.pins);
        self.versions.record_outcome(key, &self.offer, outcome, &self.pins);
        outcome != PinOutcome::Same
    }

    /// Keeps the version that serves, if any, since its calls start the upstream again.
    fn reject(&mut self, key: &str, error: &AdmitError) {
        let before = self.offer.error.take();
        self.offer.reject(error);
        if let Some(now) = &self.offer.error
            && before.is_none_or(|before| before.for_operator != now.for_operator)
        {
            self.versions.record_refused(key, &now.for_operator);
            tracing::error!(file = key, "{}", printable(&now.for_operator));
        }
    }
}
