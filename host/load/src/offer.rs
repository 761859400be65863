//! Offers of sources: a version that can be served, or the reason why there is none. Plain data.

use std::{borrow::Cow, sync::Arc};

use loggia_facade::Surface;
use loggia_gate::catalog::CatalogEntry;
use loggia_sandbox::ArtifactDigest;

use super::{
    admit::{AdmissionFacts, AdmitError, AdmittedPlugin},
    facade_kind::file_stem,
    fence::VersionGrants,
    load_status::{LoadState, OfferStatus},
    names::FileClaim,
    notices::KEEPS_SERVING,
    pins::{PendingVersion, PinChange, PinDecision, PinKeeper, PinnedVersion, format_now},
    workflow_bundle::WorkflowBundle,
};

/// Offers of all sources, by key: a file name, or the name of another source's entry.
pub type OfferMap<'a> = std::collections::BTreeMap<&'a str, &'a mut FacadeOffer>;

/// One offer of a facade.
#[derive(Default)]
pub struct FacadeOffer {
    /// The newest version that loaded. It is served if it owns its name.
    pub version: Option<OfferedVersion>,
    /// A newer version: one that was just admitted, or that waits for approval.
    pub newer: Option<NewerVersion>,
    /// Why the newest version is not served, if it is not.
    pub error: Option<OfferError>,
    /// Names of its versions, the current one last.
    pub names: Vec<String>,
    /// Name that it claims before any version loaded; `None`: the stem of its key.
    pub reserved: Option<String>,
    /// Whether the source still has it.
    pub is_present: bool,
}

/// A loaded version.
pub struct OfferedVersion {
    /// Facts about its admission.
    pub facts: AdmissionFacts,
    pub entry: Arc<CatalogEntry>,
    /// The workflow file from which the entry is rebuilt when the facades that it calls change; `None` for components.
    pub workflow_file: Option<Arc<WorkflowBundle>>,
    /// Grants that concern the fence and the name record.
    pub grants: VersionGrants,
    /// What identifies it in the lock; `None` if nothing waits.
    pub pin: Option<PinnedVersion>,
}

/// A version that does not serve yet.
pub struct NewerVersion {
    pub version: OfferedVersion,
    /// Why it waits for approval; empty before that was decided.
    pub changes: Vec<PinChange>,
}

/// What became of a version that was admitted, or that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinOutcome {
    /// It serves now.
    Accepted,
    /// It serves now, after an operator approved it.
    Approved,
    /// It waits from now on, or for other reasons than before.
    Held,
    /// The version that served was rejected.
    Dropped,
    /// Nothing changed.
    Same,
}

/// Reason for which a version is not served.
pub struct OfferError {
    /// Message without host paths and plugin text.
    pub for_callers: Cow<'static, str>,
    /// Sentence in the log.
    pub for_operator: String,
}

impl OfferedVersion {
    /// Offers an admitted plugin.
    pub fn new(admitted: AdmittedPlugin, pin: Option<PinnedVersion>) -> Self {
        let AdmittedPlugin { entry, workflow_file, grants, facts } = admitted;
        Self { facts, entry: Arc::new(entry), workflow_file, grants, pin }
    }
}

impl NewerVersion {
    /// Describes it for the lock; `None` before it was decided about.
    pub fn to_pending(&self) -> Option<PendingVersion> {
        let version = self.version.pin.clone()?;
        let flags = self.version.facts.flags.iter().map(ToString::to_string).collect();
        let pending = PendingVersion {
            version,
            changes: self.changes.clone(),
            flags,
            since: format_now(),
            until: None,
        };
        (!self.changes.is_empty()).then_some(pending)
    }
}

impl FacadeOffer {
    /// Replaces the version, whatever the lock says.
    pub fn accept(&mut self, admitted: AdmittedPlugin) {
        self.serve(OfferedVersion::new(admitted, None));
    }

    /// Takes a version that was admitted. [`settle`](Self::settle) decides whether it serves.
    pub fn arrive(&mut self, version: OfferedVersion) {
        self.newer = Some(NewerVersion { version, changes: Vec::new() });
        self.is_present = true;
    }

    /// Serves the newer version, or has it wait, as the lock says.
    pub fn settle(&mut self, pins: &PinKeeper) -> PinOutcome {
        let is_rejected =
            |version: &OfferedVersion| version.pin.as_ref().is_some_and(|pin| pins.is_rejected(pin));
        let Some(newer) = self.newer.take() else {
            let Some(rejected) = self.version.take_if(|version| is_rejected(version)) else {
                return PinOutcome::Same;
            };
            self.newer = Some(NewerVersion { version: rejected, changes: vec![PinChange::Rejected] });
            self.explain_wait(pins);
            return PinOutcome::Dropped;
        };
        let NewerVersion { version, changes: before } = newer;
        let decision = match &version.pin {
            None => PinDecision::Serve,
            Some(pin) => pins.decide(pin, version.grants.name_given),
        };
        match decision {
            PinDecision::Serve | PinDecision::Record => {
                self.serve(version);
                // A lock that can be used again is no approval.
                let is_decision = !before.is_empty() && before != [PinChange::Lock];
                if is_decision { PinOutcome::Approved } else { PinOutcome::Accepted }
            }
            PinDecision::Hold(changes) => {
                let outcome = if changes == before { PinOutcome::Same } else { PinOutcome::Held };
                if self.version.as_ref().is_some_and(is_rejected) {
                    self.version = None;
                }
                self.newer = Some(NewerVersion { version, changes });
                self.explain_wait(pins);
                outcome
            }
        }
    }

    /// Replaces the version by an approved one, while a newer one waits or does not load.
    pub fn restore(&mut self, version: OfferedVersion) {
        let (newer, error) = (self.newer.take(), self.error.take());
        self.serve(version);
        (self.newer, self.error) = (newer, error);
    }

    fn serve(&mut self, version: OfferedVersion) {
        let name = &version.entry.surface().name;
        self.names.retain(|known| known != name);
        self.names.push(name.clone());
        self.version = Some(version);
        self.newer = None;
        self.error = None;
        self.is_present = true;
    }

    /// Says why the newer version waits.
    fn explain_wait(&mut self, pins: &PinKeeper) {
        let Some(NewerVersion { version: OfferedVersion { pin: Some(pin), .. }, changes }) = &self.newer
        else {
            return;
        };
        let serves = if self.version.is_some() { "; the approved version keeps serving" } else { "" };
        let (name, reference, option) = (&pin.name, pin.reference(), pins.option());
        let why = match changes[..] {
            [PinChange::Rejected] => format!("an operator rejected this version, {reference}"),
            [PinChange::Lock] => pins.trouble().unwrap_or_default(),
            _ => {
                let changes = changes.iter().map(|change| change.as_str()).collect::<Vec<_>>().join(", ");
                format!(
                    "waits for approval ({changes}): `loggia diff {name}{option}` shows it, `loggia approve \
                     {reference}{option}` serves it"
                )
            }
        };
        self.error = Some(OfferError {
            for_callers: "it waits for an operator's approval".into(),
            for_operator: format!("{why}{serves}"),
        });
    }

    /// Keeps the current version, if any, and records the error of a newer one.
    pub fn reject(&mut self, error: &AdmitError) {
        self.newer = None;
        let keeps = if self.version.is_some() { KEEPS_SERVING } else { "" };
        self.error =
            Some(OfferError { for_callers: error.caller_message(), for_operator: format!("{error}{keeps}") });
        self.is_present = true;
    }

    /// Drops the version, since the source no longer has it.
    pub fn withdraw(&mut self) {
        (self.version, self.newer) = (None, None);
        self.error =
            Some(OfferError { for_callers: "its file was removed".into(), for_operator: String::new() });
        self.is_present = false;
    }

    /// Returns digest and surface of the version, so that unchanged bytes need not be described again.
    pub fn known_surface(&self) -> Option<(ArtifactDigest, Arc<Surface>)> {
        self.version
            .as_ref()
            .map(|version| (version.facts.digest, Arc::clone(version.entry.facade.surface())))
    }

    /// Returns the name that it claims: that of its version. An offer that never loaded reserves the name of its key.
    pub fn claim<'a>(&'a self, key: &'a str) -> Option<FileClaim<'a>> {
        if let Some(OfferedVersion { entry, grants, .. }) = &self.version {
            return Some(FileClaim {
                file: key,
                name: &entry.surface().name,
                given: grants.name_given,
                loads: true,
            });
        }
        let never_loaded = self.is_present && self.names.is_empty();
        never_loaded.then(|| FileClaim {
            file: key,
            name: self.fallback_name(key),
            given: self.reserved.is_some(),
            loads: false,
        })
    }

    /// Returns the name that it has before any version loaded.
    pub fn fallback_name<'a>(&'a self, key: &'a str) -> &'a str {
        self.reserved.as_deref().unwrap_or_else(|| file_stem(key))
    }

    /// Reports its status, without names and fence; `None` once it was withdrawn, and before anything is known.
    pub fn status(&self, key: &str) -> Option<OfferStatus> {
        let is_known = self.version.is_some() || self.error.is_some();
        (self.is_present && is_known).then_some(())?;
        let newest = self.version.as_ref().or(self.newer.as_ref().map(|newer| &newer.version));
        let facade = newest.map(|version| version.entry.surface().name.clone());
        let state = match (&self.version, &self.error) {
            (None, _) if self.newer.is_some() => LoadState::Pending,
            (None, _) => LoadState::Failed,
            (Some(_), Some(_)) => LoadState::Stale,
            (Some(_), None) => LoadState::Serving,
        };
        let why = self.error.as_ref().map(|error| error.for_operator.clone());
        Some(OfferStatus { file: key.to_owned(), facade, state, why })
    }

    /// Grants of its version.
    pub fn grants(&self) -> Option<&VersionGrants> {
        self.version.as_ref().map(|version| &version.grants)
    }
}
