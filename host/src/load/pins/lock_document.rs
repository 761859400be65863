//! Content of the lock: approved versions, versions that wait, and rejected ones.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{pin_change::PinChange, pinned_version::PinnedVersion};

/// Rejections that are kept; the oldest are dropped. A dropped one waits again instead of being refused.
const REJECTIONS: usize = 1000;
/// Time for which a version stays approved after its successor is, where servers share the lock: while an update is rolled out, they
/// have different files.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);
/// Versions of one file that wait at once, where servers share the lock.
const WAITING: usize = 16;

/// Approved versions, by what they are versions of, and those that wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockDocument {
    /// Grows with each change.
    pub revision: u64,
    scope: LockScope,
    /// Approved versions, the newest last.
    entries: BTreeMap<String, Vec<LockEntry>>,
    /// By what they are versions of; where servers share the lock, followed by the digest.
    pending: BTreeMap<String, PendingVersion>,
    /// By digest of the version.
    rejected: BTreeMap<String, OperatorDecision>,
}

/// Whose lock it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LockScope {
    /// That of one state folder. All its processes see the same files, so one version of each is approved, and one may wait.
    #[default]
    Folder,
    /// That of all servers with a database. They may have different files.
    Servers,
}

/// An approved version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockEntry {
    /// The version.
    #[serde(flatten)]
    pub version: PinnedVersion,
    /// Who approved it, and when.
    pub approved: OperatorDecision,
    /// When its approval ends, since another version was approved after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
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
    format_time(Timestamp::now())
}

/// Two such texts are in the order of their times.
fn format_time(time: Timestamp) -> String {
    time.strftime("%FT%TZ").to_string()
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
    /// An empty lock.
    pub(super) fn new(scope: LockScope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// An empty lock that follows one of this revision.
    pub(super) fn from_revision(revision: u64) -> Self {
        Self { revision, ..Self::default() }
    }

    /// Whose lock it is.
    pub(super) fn scope(&self) -> LockScope {
        self.scope
    }

    /// The version of what has this key that was approved last.
    pub fn entry(&self, key: &str) -> Option<&LockEntry> {
        self.approved(key).last()
    }

    /// Approved versions of what has this key, the newest last.
    pub fn approved(&self, key: &str) -> &[LockEntry] {
        self.entries.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether exactly this version is approved.
    pub fn is_approved(&self, version: &PinnedVersion) -> bool {
        self.approved(&version.key()).iter().any(|entry| entry.version == *version)
    }

    /// Iterates over the approved versions.
    pub fn entries(&self) -> impl Iterator<Item = &LockEntry> {
        self.entries.values().flatten()
    }

    /// Forgets versions whose approval has ended. Returns true if there were any.
    pub(super) fn expire(&mut self, now: &str) -> bool {
        let mut expired = false;
        for entries in self.entries.values_mut() {
            entries.retain(|entry| {
                let stays = entry.until.as_deref().is_none_or(|until| until > now);
                expired |= !stays;
                stays
            });
        }
        expired
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
        let digest = version.digest();
        self.rejected.remove(&digest);
        self.withdraw(&digest);
        let entries = self.entries.entry(version.key()).or_default();
        match self.scope {
            LockScope::Folder => entries.clear(),
            LockScope::Servers => {
                entries.retain(|entry| entry.version != version);
                if let Some(before) = entries.last_mut() {
                    before.until = Some(format_time(Timestamp::now() + OVERLAP));
                }
            }
        }
        entries.push(LockEntry { version, approved, until: None });
    }

    /// Rejects a version. It stays listed for as long as it is the newest.
    pub fn reject(&mut self, digest: String, rejected: OperatorDecision) {
        self.rejected.insert(digest, rejected);
        while self.rejected.len() > REJECTIONS {
            let oldest = self.rejected.iter().min_by(|a, b| a.1.at.cmp(&b.1.at)).map(|(key, _)| key.clone());
            oldest.map(|oldest| self.rejected.remove(&oldest));
        }
    }

    /// Records that a version waits, unless it has been approved. One that is known keeps its time, and its flags, which are found
    /// when it is first read.
    pub fn hold(&mut self, pending: PendingVersion) {
        if self.is_approved(&pending.version) {
            return;
        }
        let key = self.pending_key(&pending.version);
        let pending = match self.pending.get(&key).filter(|known| known.version == pending.version) {
            Some(PendingVersion { since, flags, .. }) => {
                PendingVersion { since: since.clone(), flags: flags.clone(), ..pending }
            }
            None => pending,
        };
        let group = pending.version.key();
        self.pending.insert(key, pending);
        if self.scope == LockScope::Servers {
            let mut waiting: Vec<_> =
                self.pending.iter().filter(|(_, pending)| pending.version.key() == group).collect();
            if waiting.len() > WAITING {
                waiting.sort_by(|(_, one), (_, other)| one.since.cmp(&other.since));
                let oldest = waiting[0].0.clone();
                self.pending.remove(&oldest);
            }
        }
    }

    /// Forgets what waits of a file: it was replaced or removed. Where servers share the lock, other servers may have it.
    pub fn forget_pending(&mut self, key: &str) {
        if self.scope == LockScope::Folder {
            self.pending.remove(key);
        }
    }

    /// Forgets that a version waits.
    pub fn withdraw(&mut self, digest: &str) {
        self.pending.retain(|_, pending| pending.version.digest() != digest);
    }

    fn pending_key(&self, version: &PinnedVersion) -> String {
        match self.scope {
            LockScope::Folder => version.key(),
            LockScope::Servers => format!("{}\n{}", version.key(), version.digest()),
        }
    }

    /// Digests of the files and surfaces that the lock names.
    pub fn digests(&self) -> impl Iterator<Item = &str> {
        let versions = self.entries().map(|entry| &entry.version);
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
            entries: self.entries().cloned().collect(),
            pending: self.pending.values().cloned().collect(),
            rejected: self.rejected.clone(),
        }
    }

    /// The document of a stored one, whose entries of a file are in the order of their approval.
    pub(super) fn from_stored(scope: LockScope, stored: StoredLock) -> Self {
        let StoredLock { revision, entries, pending, rejected, .. } = stored;
        let mut lock = Self { revision, scope, rejected, ..Self::default() };
        for entry in entries {
            let known = lock.entries.entry(entry.version.key()).or_default();
            if scope == LockScope::Folder {
                known.clear();
            }
            known.push(entry);
        }
        for pending in pending {
            lock.pending.insert(lock.pending_key(&pending.version), pending);
        }
        lock
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
