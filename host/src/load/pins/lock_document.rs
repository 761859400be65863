//! Content of the lock: approved versions, versions that wait, and rejected ones.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{pin_change::PinChange, pinned_version::PinnedVersion};

/// Rejections that are kept; the oldest are dropped. A dropped one waits again instead of being refused.
const REJECTIONS: usize = 1000;

/// Approved versions, by what they are versions of, and those that wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockDocument {
    /// Grows with each change.
    pub revision: u64,
    entries: BTreeMap<String, LockEntry>,
    pending: BTreeMap<String, PendingVersion>,
    /// By digest of the version.
    rejected: BTreeMap<String, OperatorDecision>,
}

/// An approved version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockEntry {
    /// The version.
    #[serde(flatten)]
    pub version: PinnedVersion,
    /// Who approved it, and when.
    pub approved: OperatorDecision,
}

/// A version that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingVersion {
    /// The version.
    #[serde(flatten)]
    pub version: PinnedVersion,
    /// Why it waits.
    pub changes: Vec<PinChange>,
    /// Texts that look like instructions to a model, or are hidden from people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// When a server found it, as RFC 3339 has it.
    pub since: String,
}

/// Who decided, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorDecision {
    /// The person, as far as known, or `first use`.
    pub by: String,
    /// Time as RFC 3339 has it.
    pub at: String,
}

impl OperatorDecision {
    /// A decision of now.
    pub fn now(by: String) -> Self {
        Self { by, at: format_now() }
    }
}

/// Returns the time as RFC 3339 has it, in seconds.
pub fn format_now() -> String {
    Timestamp::now().strftime("%FT%TZ").to_string()
}

/// The document as it is stored, without its seal.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredLock {
    pub version: u32,
    pub revision: u64,
    pub entries: Vec<LockEntry>,
    pub pending: Vec<PendingVersion>,
    pub rejected: BTreeMap<String, OperatorDecision>,
}

impl LockDocument {
    /// An empty lock that follows one of this revision.
    pub(super) fn from_revision(revision: u64) -> Self {
        Self { revision, ..Self::default() }
    }

    /// Approved version of what has this key.
    pub fn entry(&self, key: &str) -> Option<&LockEntry> {
        self.entries.get(key)
    }

    /// Iterates over the approved versions.
    pub fn entries(&self) -> impl Iterator<Item = &LockEntry> {
        self.entries.values()
    }

    /// Iterates over the versions that wait or were rejected, each the newest of its file.
    pub fn pending(&self) -> impl Iterator<Item = &PendingVersion> {
        self.pending.values()
    }

    /// Returns who rejected a version.
    pub fn rejection(&self, digest: &str) -> Option<&OperatorDecision> {
        self.rejected.get(digest)
    }

    /// Approves a version. Its earlier rejection is void.
    pub fn approve(&mut self, version: PinnedVersion, approved: OperatorDecision) {
        let (key, digest) = (version.key(), version.digest());
        self.rejected.remove(&digest);
        self.pending.retain(|_, pending| pending.version.digest() != digest);
        self.entries.insert(key, LockEntry { version, approved });
    }

    /// Rejects a version. It stays listed for as long as it is the newest.
    pub fn reject(&mut self, digest: String, rejected: OperatorDecision) {
        self.rejected.insert(digest, rejected);
        while self.rejected.len() > REJECTIONS {
            let oldest = self.rejected.iter().min_by(|a, b| a.1.at.cmp(&b.1.at)).map(|(key, _)| key.clone());
            oldest.map(|oldest| self.rejected.remove(&oldest));
        }
    }

    /// Records that a version waits. One that is known keeps its time, and its flags, which are found when it is first read.
    pub fn hold(&mut self, pending: PendingVersion) {
        let key = pending.version.key();
        let pending = match self.pending.get(&key).filter(|known| known.version == pending.version) {
            Some(PendingVersion { since, flags, .. }) => {
                PendingVersion { since: since.clone(), flags: flags.clone(), ..pending }
            }
            None => pending,
        };
        self.pending.insert(key, pending);
    }

    /// Forgets what waits of a file: it was replaced or removed.
    pub fn forget_pending(&mut self, key: &str) {
        self.pending.remove(key);
    }

    /// Digests of the files and surfaces that the lock names.
    pub fn digests(&self) -> impl Iterator<Item = &str> {
        let versions = self.entries.values().map(|entry| &entry.version);
        let versions = versions.chain(self.pending.values().map(|pending| &pending.version));
        versions.flat_map(|version| {
            [Some(&version.artifact), Some(&version.surface), version.policy.as_ref()]
                .into_iter()
                .flatten()
                .map(String::as_str)
        })
    }

    pub(super) fn to_stored(&self, version: u32) -> StoredLock {
        StoredLock {
            version,
            revision: self.revision,
            entries: self.entries.values().cloned().collect(),
            pending: self.pending.values().cloned().collect(),
            rejected: self.rejected.clone(),
        }
    }

    pub(super) fn from_stored(stored: StoredLock) -> Self {
        let StoredLock { revision, entries, pending, rejected, .. } = stored;
        Self {
            revision,
            entries: entries.into_iter().map(|entry| (entry.version.key(), entry)).collect(),
            pending: pending.into_iter().map(|pending| (pending.version.key(), pending)).collect(),
            rejected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::pins::fixture::version;

    fn decision(at: &str) -> OperatorDecision {
        OperatorDecision { by: "ada".into(), at: at.into() }
    }

    fn pending(version: PinnedVersion, since: &str) -> PendingVersion {
        PendingVersion { version, changes: vec![PinChange::New], flags: Vec::new(), since: since.into() }
    }

    #[test]
    fn an_approval_ends_the_wait_of_its_version_alone() {
        let other = PinnedVersion { artifact: "sha256:2".into(), ..version() };
        let mut lock = LockDocument::default();
        lock.hold(pending(version(), "1"));
        lock.hold(pending(version(), "2"));
        assert_eq!(lock.pending().next().unwrap().since, "1", "the same version was found again");
        lock.reject(version().digest(), decision("3"));
        lock.approve(other.clone(), decision("4"));
        assert_eq!(lock.pending().count(), 1, "another version was approved");
        lock.approve(version(), decision("5"));
        assert_eq!((lock.pending().count(), lock.rejection(&version().digest())), (0, None));
        assert_eq!(lock.entry("/plugins/notes").unwrap().version, version());
        lock.hold(pending(other, "6"));
        lock.forget_pending("/plugins/notes");
        assert_eq!((lock.pending().count(), lock.entries().count()), (0, 1));
    }

    #[test]
    fn rejections_are_bounded() {
        let mut lock = LockDocument::default();
        for n in 0..=REJECTIONS {
            lock.reject(format!("sha256:{n}"), decision(&format!("{n:04}")));
        }
        assert_eq!(lock.rejected.len(), REJECTIONS);
        assert_eq!((lock.rejection("sha256:0"), lock.rejection("sha256:1").is_some()), (None, true));
    }
}
