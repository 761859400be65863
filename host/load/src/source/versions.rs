//! Logs versions, and records them in the audit trail: the digests of a plugin and of its policy, before and after each change.

use std::collections::BTreeMap;

use loggia_gate::call::{TARGET as AUDIT, is_enabled as is_audited};
use loggia_sandbox::ArtifactDigest;
use loggia_text::printable;

use crate::{
    facade_kind::is_file_key,
    offer::{FacadeOffer, NewerVersion, OfferedVersion, PinOutcome},
    pins::PinKeeper,
};

/// The last loaded versions, by file or key. Empty unless the audit trail is on.
#[derive(Default)]
pub struct AuditedVersions(BTreeMap<String, AuditedVersion>);

/// Digests that identify the behaviour of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AuditedVersion {
    facade: String,
    bytes: ArtifactDigest,
    /// `None` without a policy.
    policy: Option<ArtifactDigest>,
}

impl AuditedVersion {
    /// Describes a version; `None` if the audit trail is off.
    fn audited(version: &OfferedVersion) -> Option<Self> {
        is_audited().then(|| Self {
            facade: version.entry.surface().name.clone(),
            bytes: version.facts.digest,
            policy: version.facts.policy,
        })
    }
}

impl AuditedVersions {
    /// Records and logs what became of a version that was admitted, or that waited.
    pub fn record_outcome(&mut self, file: &str, offer: &FacadeOffer, outcome: PinOutcome, pins: &PinKeeper) {
        match (outcome, &offer.version, &offer.newer) {
            (PinOutcome::Accepted | PinOutcome::Approved, Some(version), _) => {
                if let Some(pin) = version.pin.as_ref().filter(|_| outcome == PinOutcome::Approved) {
                    let by = pins.approver(pin).unwrap_or_default();
                    let (facade, digest) = (&pin.name, pin.digest());
                    tracing::info!(file, facade, "{} approved it", printable(&by));
                    tracing::debug!(target: AUDIT, event = "approved", file, facade, version = digest, by, "{file} is approved");
                }
                log_loaded(file, version);
                if let Some(version) = AuditedVersion::audited(version) {
                    self.record_loaded(file, version);
                }
            }
            (PinOutcome::Held | PinOutcome::Dropped, _, Some(NewerVersion { version, changes })) => {
                let Some(pin) = &version.pin else { return };
                let why = offer.error.as_ref().map(|error| error.for_operator.as_str()).unwrap_or_default();
                tracing::warn!(file, facade = pin.name, "{}", printable(why));
                let changes = changes.iter().map(|change| change.as_str()).collect::<Vec<_>>().join(", ");
                let (facade, digest, bytes) = (&pin.name, pin.digest(), &pin.artifact);
                tracing::debug!(
                    target: AUDIT,
                    event = "held", file, facade, version = digest, bytes, changes, "{file} waits for approval"
                );
            }
            _ => {}
        }
    }

    fn record_loaded(&mut self, file: &str, now: AuditedVersion) {
        let before = self.0.get(file);
        if before == Some(&now) {
            return;
        }
        let (old_bytes, old_policy) =
            (before.map(|old| text(old.bytes)), before.and_then(|old| old.policy.map(text)));
        let (bytes, policy) = (text(now.bytes), now.policy.map(text));
        tracing::debug!(
            target: AUDIT,
            event = "loaded", file, facade = now.facade, old_bytes, bytes, old_policy, policy,
            "{file} is loaded"
        );
        self.0.insert(file.to_owned(), now);
    }

    /// Records a removed file.
    pub fn record_removed(&mut self, file: &str) {
        if let Some(AuditedVersion { facade, bytes, policy }) = self.0.remove(file) {
            let (old_bytes, old_policy) = (text(bytes), policy.map(text));
            tracing::debug!(target: AUDIT, event = "removed", file, facade, old_bytes, old_policy, "{file} is removed");
        }
    }

    /// Records a version that did not load.
    pub fn record_refused(&self, file: &str, why: &str) {
        let old_bytes = self.0.get(file).map(|old| text(old.bytes));
        tracing::debug!(target: AUDIT, event = "not_loaded", file, old_bytes, why, "{file} is not loaded");
    }
}

/// Logs that a version serves.
fn log_loaded(file: &str, OfferedVersion { entry, workflow_file, facts, .. }: &OfferedVersion) {
    let (name, actions) = (&entry.surface().name, entry.surface().actions.len());
    if !is_file_key(file) {
        let table = file.split('.').next().unwrap_or(file);
        tracing::info!(file, facade = name, actions, "loaded ({table})");
        return;
    }
    let (digest, took) = (facts.digest.to_string(), facts.took.as_millis());
    let how = facts.method.as_str();
    tracing::info!(file, facade = name, actions, digest = &digest[..12], "loaded ({how}, {took} ms)");
    for lacking in &facts.lacking {
        tracing::warn!(file, facade = name, "{name} {lacking}");
    }
    for warning in workflow_file.iter().flat_map(|workflow_file| workflow_file.warnings()) {
        tracing::warn!(file, "{}", printable(&warning.to_string()));
    }
}

fn text(digest: ArtifactDigest) -> String {
    format!("sha256:{digest}")
}
