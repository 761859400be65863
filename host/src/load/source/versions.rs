//! Logs loaded versions to the audit trail: the digests of a plugin and of its policy, before and after each change.

use std::{collections::BTreeMap, path::Path};

use loggia_gate::call::{TARGET as AUDIT, is_enabled as is_audited};
use loggia_sandbox::ArtifactDigest;

use crate::load::admit::{AdmittedPlugin, policy_digest};

/// The last loaded versions, by file or key. Empty unless the audit trail is on.
#[derive(Default)]
pub struct AuditedVersions(BTreeMap<String, AuditedVersion>);

/// Digests that identify the behaviour of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedVersion {
    facade: String,
    bytes: ArtifactDigest,
    /// `None` without a policy.
    policy: Option<ArtifactDigest>,
}

impl AuditedVersion {
    /// Describes an admitted version; `None` if the audit trail is off. Reads the policy again.
    pub fn audited(admitted: &AdmittedPlugin, policy: Option<&Path>) -> Option<Self> {
        is_audited().then(|| Self {
            facade: admitted.entry.surface().name.clone(),
            bytes: admitted.facts.digest,
            policy: policy_digest(policy),
        })
    }
}

impl AuditedVersions {
    /// Records a loaded version.
    pub fn record_loaded(&mut self, file: &str, now: AuditedVersion) {
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

fn text(digest: ArtifactDigest) -> String {
    format!("sha256:{digest}")
}
