//! Which version of each file is loaded, and the line of the audit trail that says when that changes: what a plugin's bytes or
//! its policy were before, and what they are now.

use std::collections::BTreeMap;

use loggia_gate::call::{TARGET as AUDIT, is_on as is_audited};
use loggia_sandbox::ArtifactDigest;

use crate::load::{
    admit::{Admitted, digest_of_policy},
    found::Found,
};

/// The versions that were loaded last, by file. Kept while somebody reads the trail.
#[derive(Default)]
pub struct Versions(BTreeMap<String, Version>);

/// What decides what a file does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    facade: String,
    bytes: ArtifactDigest,
    /// None where there is no policy.
    policy: Option<ArtifactDigest>,
}

impl Version {
    /// The version of a file that was admitted; none while nobody reads the trail. Reads the policy again.
    pub fn of(admitted: &Admitted, found: &Found) -> Option<Self> {
        is_audited().then(|| Self {
            facade: admitted.entry.surface().name.clone(),
            bytes: admitted.facts.digest,
            policy: digest_of_policy(found),
        })
    }
}

impl Versions {
    /// A version was loaded.
    pub fn loaded(&mut self, file: &str, now: Version) {
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

    /// A file was removed.
    pub fn removed(&mut self, file: &str) {
        if let Some(Version { facade, bytes, policy }) = self.0.remove(file) {
            let (old_bytes, old_policy) = (text(bytes), policy.map(text));
            tracing::debug!(target: AUDIT, event = "removed", file, facade, old_bytes, old_policy, "{file} is removed");
        }
    }

    /// A version could not be loaded.
    pub fn refused(&self, file: &str, why: &str) {
        let old_bytes = self.0.get(file).map(|old| text(old.bytes));
        tracing::debug!(target: AUDIT, event = "not_loaded", file, old_bytes, why, "{file} is not loaded");
    }
}

fn text(digest: ArtifactDigest) -> String {
    format!("sha256:{digest}")
}
