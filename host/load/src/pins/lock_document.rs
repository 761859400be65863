//! Content of the lock: approved versions, versions that wait, and rejected ones.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{pin_change::PinChange, pinned_version::PinnedVersion};

/// Rejections that are kept; the oldest are dropped. A dropped one waits again instead of being refused.
const REJECTIONS: usize = 1000;
/// Time for which a version that was succeeded stays approved, or a waiting one stays listed, after a server last had it, where servers
/// share the lock: while an update is rolled out, or rolled back, they have different files.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);
/// Part of it after which servers say again what they have.
const RENEWAL: SignedDuration = SignedDuration::from_hours(2);
/// Versions of one file that are approved, or wait, at once, where servers share the lock.
const VERSIONS: usize = 16;

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
    /// When its approval ends, since another version was approved after it, unless a server still has it.
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
    /// Until when it is listed, unless a server still has it; where servers share the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
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

/// Moves the end of what a server still has, unless that was done a short time ago.
fn renew(until: &mut Option<String>) {
    let now = Timestamp::now();
    let due = format_time(now + (OVERLAP - RENEWAL));
    if until.as_ref().is_none_or(|until| *until < due) {
        *until = Some(format_time(now + OVERLAP));
    }
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

/// What is read of the file before the lock: the version of the format, and the seal.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct LockFrame {
    pub version: serde_json::Value,
    pub seal: String,
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
        self.approved(&version.key()).iter().any(|entry| self.is_same(&entry.version, version))
    }

    /// Whether two versions are one. Servers may have the file in another place, or explain its grants otherwise.
    fn is_same(&self, one: &PinnedVersion, other: &PinnedVersion) -> bool {
        match self.scope {
            LockScope::Folder => one == other,
            LockScope::Servers => one.digest() == other.digest(),
        }
    }

    /// Iterates over the approved versions.
    pub fn entries(&self) -> impl Iterator<Item = &LockEntry> {
        self.entries.values().flatten()
    }

    /// Forgets versions whose time has ended. Returns true if there were any.
    pub fn expire(&mut self, now: &str) -> bool {
        let mut expired = false;
        let mut stays = |until: Option<&str>| {
            let stays = until.is_none_or(|until| until > now);
            expired |= !stays;
            stays
        };
        self.entries.values_mut().for_each(|entries| entries.retain(|entry| stays(entry.until.as_deref())));
        self.pending.retain(|_, pending| stays(pending.until.as_deref()));
        expired
    }

    /// Keeps a version approved that a server has.
    pub(super) fn keep(&mut self, version: &PinnedVersion) {
        let digest = version.digest();
        let entries = self.entries.get_mut(&version.key()).into_iter().flatten();
        for entry in entries.filter(|entry| entry.until.is_some() && entry.version.digest() == digest) {
            renew(&mut entry.until);
        }
    }

    /// Whether a version can be approved without another one of its file losing its approval.
    pub(super) fn has_room(&self, key: &str) -> bool {
        self.scope == LockScope::Folder || self.approved(key).len() < VERSIONS
    }

    /// Iterates over the versions that wait or were rejected, each the newest of its file.
    pub fn pending(&self) -> impl Iterator<Item = &PendingVersion> {
        self.pending.values()
    }

    /// Returns who rejected a version.
    pub fn rejection(&self, digest: &str) -> Option<&OperatorDecision> {
        self.rejected.get(digest)
    }

    /// Iterates over the rejected versions, by their digests.
    pub fn rejections(&self) -> impl Iterator<Item = (&str, &OperatorDecision)> {
        self.rejected.iter().map(|(digest, decision)| (digest.as_str(), decision))
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
                entries.retain(|entry| entry.version.digest() != digest);
                entries.last_mut().into_iter().for_each(|before| renew(&mut before.until));
                let most = entries.len().saturating_sub(VERSIONS - 1);
                entries.drain(..most);
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
        let known = self.pending.get(&key).filter(|known| self.is_same(&known.version, &pending.version));
        let mut pending = match known {
            Some(PendingVersion { version, since, flags, until, .. }) => {
                let flags = if flags.is_empty() { pending.flags } else { flags.clone() };
                let (version, changes) = (version.clone(), pending.changes);
                PendingVersion { version, changes, flags, since: since.clone(), until: until.clone() }
            }
            None if self.is_crowded(&pending.version) => return,
            None => pending,
        };
        if self.scope == LockScope::Servers {
            renew(&mut pending.until);
        }
        self.pending.insert(key, pending);
    }

    /// Whether no further version of a file can wait: it is not listed until others are decided about.
    fn is_crowded(&self, version: &PinnedVersion) -> bool {
        let group = version.key();
        let waits = self.pending.values().filter(|pending| {
            pending.version.key() == group && !self.rejected.contains_key(&pending.version.digest())
        });
        self.scope == LockScope::Servers && waits.count() >= VERSIONS
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
    use crate::pins::fixture::version;

    fn decision(at: &str) -> OperatorDecision {
        OperatorDecision { by: "ada".into(), at: at.into() }
    }

    fn pending(version: PinnedVersion, since: &str) -> PendingVersion {
        let (changes, since) = (vec![PinChange::New], since.into());
        PendingVersion { version, changes, flags: Vec::new(), since, until: None }
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

    /// A lock of servers, with these artifacts of a file approved in their order.
    fn shared(artifacts: impl IntoIterator<Item = usize>) -> LockDocument {
        let mut lock = LockDocument::new(LockScope::Servers);
        artifacts.into_iter().for_each(|n| lock.approve(of_artifact(n), decision("1")));
        lock
    }

    fn of_artifact(n: usize) -> PinnedVersion {
        PinnedVersion { artifact: format!("sha256:{n}"), ..version() }
    }

    #[test]
    fn a_version_stays_approved_for_as_long_as_a_server_has_it() {
        let mut lock = shared(0..2);
        let key = version().key();
        let until = lock.approved(&key)[0].until.clone().unwrap();
        assert!(until > format_now() && lock.entry(&key).unwrap().until.is_none());
        lock.keep(&of_artifact(0));
        lock.keep(&of_artifact(1));
        assert_eq!(lock.approved(&key)[0].until.as_ref(), Some(&until), "it was renewed a moment ago");
        lock.entries.get_mut(&key).unwrap()[0].until = Some(format_now());
        lock.keep(&of_artifact(0));
        assert!(lock.approved(&key)[0].until.clone() >= Some(until));
        assert!(lock.entry(&key).unwrap().until.is_none(), "the newest has no end");
        assert!(lock.expire("9999-01-01T00:00:00Z"));
        assert_eq!((lock.approved(&key).len(), lock.is_approved(&of_artifact(1))), (1, true));
    }

    #[test]
    fn versions_of_a_file_are_bounded() {
        let lock = shared(0..VERSIONS + 3);
        let key = version().key();
        assert_eq!((lock.approved(&key).len(), lock.has_room(&key)), (VERSIONS, false));
        assert!(lock.is_approved(&of_artifact(VERSIONS + 2)) && !lock.is_approved(&of_artifact(0)));
        let mut lock = shared([]);
        (0..VERSIONS + 3).for_each(|n| lock.hold(pending(of_artifact(n), "1")));
        assert_eq!(lock.pending().count(), VERSIONS);
        lock.reject(of_artifact(0).digest(), decision("1"));
        lock.hold(pending(of_artifact(VERSIONS), "1"));
        assert_eq!(lock.pending().count(), VERSIONS + 1, "a rejected one does not wait");
        assert!(lock.expire("9999-01-01T00:00:00Z"));
        assert_eq!(lock.pending().count(), 0, "no server has them any more");
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
