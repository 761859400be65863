//! The lock as a host uses it: looked at often, written when versions are served for the first time or begin to wait.

use std::{
    collections::BTreeMap,
    io, mem,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use loggia_facade::Surface;
use loggia_policy::settings::PinMode;
use loggia_text::printable;

use super::{
    decide::{PinDecision, decide},
    diff::VersionDiff,
    lock_document::{LockDocument, LockEntry, LockScope, OperatorDecision, PendingVersion, format_now},
    lock_file::LockError,
    pin_change::PinChange,
    pin_report::{PinReport, PinSource},
    pinned_version::PinnedVersion,
    version_lock::{LockStamp, VersionLock},
    version_store::VersionStore,
};
use crate::{
    admit::FacadeStates,
    plugin_files::{PluginFiles, StoredFiles, StoredPolicy},
};

/// Time after which a server says again what it has, where servers share the lock.
const RENEWAL_PERIOD: Duration = Duration::from_secs(600);
/// The lock of a host.
pub struct PinKeeper {
    mode: PinMode,
    /// The state folder; `None` if nothing waits.
    states: Option<Arc<FacadeStates>>,
    /// Held while the lock is read or written, so that this is done once for each change; a database may take its time. Taken before
    /// `known`.
    turn: Mutex<()>,
    /// Locked for a look, never across a wait.
    known: Mutex<KnownLock>,
}

/// The lock as it was read last.
#[derive(Default)]
struct KnownLock {
    opened: Option<VersionLock>,
    document: Arc<LockDocument>,
    /// `None` if it must be read again.
    stamp: Option<LockStamp>,
    /// Why it cannot be used. What it had before still counts.
    trouble: Option<String>,
    /// What was recorded last, of each source.
    reports: BTreeMap<PinSource, PinReport>,
    /// When it was last compared with the reports.
    written: Option<Instant>,
    /// Digests of versions that waited here, and no longer do. Until the lock says so.
    withdrawn: Vec<String>,
}

/// State of the lock: while it is the same, so are all decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockState {
    revision: u64,
    is_usable: bool,
}

/// A version that waits or was rejected, for an operator.
pub struct ListedVersion {
    /// The version.
    pub pending: PendingVersion,
    /// Who rejected it, if it was.
    pub rejected: Option<OperatorDecision>,
    /// How it differs from the approved one.
    pub diff: Vec<VersionDiff>,
}

impl PinKeeper {
    /// Serves every version; nothing is recorded.
    pub fn unpinned() -> Self {
        Self { mode: PinMode::Open, states: None, turn: Mutex::default(), known: Mutex::default() }
    }

    /// Uses the lock of a state folder.
    pub fn new(mode: PinMode, states: Arc<FacadeStates>) -> Self {
        match mode {
            PinMode::Open => Self::unpinned(),
            PinMode::Surface | PinMode::Artifact => Self { mode, states: Some(states), ..Self::unpinned() },
        }
    }

    /// Which changes wait.
    pub fn mode(&self) -> PinMode {
        self.mode
    }

    /// Option by which commands find the lock, after a space.
    pub fn option(&self) -> &str {
        self.states.as_ref().map_or("", |states| states.option())
    }

    /// Whether versions can wait at all.
    pub fn is_active(&self) -> bool {
        self.states.is_some()
    }

    /// Reads the lock again if it was changed. Otherwise reads metadata of two files, or one number of the database.
    pub fn look(&self) {
        let Some(states) = &self.states else { return };
        let _turn = self.turn();
        let opened = match self.opened() {
            Some(opened) => Ok(opened),
            None => {
                let opened = states.folder().map_err(|error| error.to_string());
                let opened = opened.and_then(|folder| VersionLock::open_for_server(&folder));
                opened.inspect(|opened| self.known().opened = Some(opened.clone()))
            }
        };
        let lock = match opened {
            Ok(lock) => lock,
            Err(error) => return self.known().set_trouble(Some(error)),
        };
        let stamp = match lock.stamp() {
            Ok(stamp) => stamp,
            Err(error) => {
                let mut known = self.known();
                known.stamp = None;
                return known.set_trouble(Some(lock.advise(&error)));
            }
        };
        let (is_same, was_usable, is_shared, is_due) = {
            let known = self.known();
            let is_shared = known.document.scope() == LockScope::Servers;
            let is_due = known.written.is_none_or(|written| written.elapsed() >= RENEWAL_PERIOD);
            (known.stamp.as_ref() == Some(&stamp), known.trouble.is_none(), is_shared, is_due)
        };
        if !is_same {
            self.read(&lock, stamp);
        }
        // Another server may have withdrawn what waits here, too.
        let may_differ = if is_shared { !is_same || is_due } else { !was_usable };
        if may_differ && self.known().trouble.is_none() {
            self.write(&lock);
        }
        Arc::make_mut(&mut self.known().document).expire(&format_now());
    }

    /// State of the lock as it was last looked at.
    pub fn state(&self) -> LockState {
        let known = self.known();
        LockState { revision: known.document.revision, is_usable: known.trouble.is_none() }
    }

    /// Decides about a version by the lock as it was last looked at.
    pub fn decide(&self, version: &PinnedVersion, name_given: bool) -> PinDecision {
        if !self.is_active() {
            return PinDecision::Serve;
        }
        let known = self.known();
        match decide(&known.document, version, name_given, self.mode) {
            PinDecision::Serve => PinDecision::Serve,
            // Whether it was approved or rejected is unknown.
            _ if known.trouble.is_some() => PinDecision::Hold(vec![PinChange::Lock]),
            decision => decision,
        }
    }

    /// Whether an operator rejected a version.
    pub fn is_rejected(&self, version: &PinnedVersion) -> bool {
        self.is_active() && self.known().document.rejection(&version.digest()).is_some()
    }

    /// Approved versions of what has this key, the newest first.
    pub fn approved(&self, key: &str) -> Vec<LockEntry> {
        self.known().document.approved(key).iter().rev().cloned().collect()
    }

    /// Who approved a version.
    pub fn approver(&self, version: &PinnedVersion) -> Option<String> {
        let approved = self.approved(&version.key());
        // Servers may explain its grants otherwise.
        let digest = version.digest();
        approved.into_iter().find(|entry| entry.version.digest() == digest).map(|entry| entry.approved.by)
    }

    /// Lists the versions that wait or were rejected, each with its differences from the approved one. Reads the lock.
    ///
    /// # Errors
    ///
    /// If the lock cannot be used.
    pub fn list_pending(&self) -> Result<Vec<ListedVersion>, String> {
        let Some(opened) = self.opened() else { return Ok(Vec::new()) };
        let mut lock = opened.read().map_err(|error| opened.advise(&error))?;
        lock.expire(&format_now());
        let listed = lock.pending().map(|pending| ListedVersion {
            rejected: lock.rejection(&pending.version.digest()).cloned(),
            diff: opened.diff(&lock, pending),
            pending: pending.clone(),
        });
        Ok(listed.collect())
    }

    /// Approves or rejects the pending version with this digest; returns it, or `None` if another one waits by now. The loader notices
    /// the changed lock.
    ///
    /// # Errors
    ///
    /// If the lock cannot be used.
    pub fn decide_pending(
        &self,
        digest: &str,
        accepted: bool,
        decision: &OperatorDecision,
    ) -> Result<Option<PendingVersion>, String> {
        let Some(opened) = self.opened() else { return Ok(None) };
        let decided = opened.update(|lock| {
            let pending = lock.pending().find(|pending| pending.version.digest() == digest)?.clone();
            match accepted {
                true => lock.approve(pending.version.clone(), decision.clone()),
                false => lock.reject(digest.to_owned(), decision.clone()),
            }
            Some(pending)
        });
        decided.map(|(_, decided)| decided).map_err(|error| opened.advise(&error))
    }

    /// Why the lock cannot be used.
    pub fn trouble(&self) -> Option<String> {
        self.known().trouble.clone()
    }

    /// Stores the files of a version, so that it can be served or shown later.
    pub fn keep(&self, version: &PinnedVersion, found: Option<&PluginFiles>, surface: &Surface) {
        self.keep_files(version, |store| {
            store.put_surface(&version.surface, surface)?;
            let Some(found) = found else { return Ok(()) };
            store.put_file(&version.artifact, found.content())?;
            match (&version.policy, &found.policy) {
                (Some(digest), Some(path)) => store.put_file(digest, path),
                _ => Ok(()),
            }
        });
    }

    /// Stores the file of a guard's version.
    pub fn keep_guard(&self, version: &PinnedVersion, file: &Path) {
        self.keep_files(version, |store| store.put_file(&version.artifact, file));
    }

    fn keep_files(&self, version: &PinnedVersion, keep: impl FnOnce(&VersionStore) -> io::Result<()>) {
        let Some(opened) = self.opened() else { return };
        if let Err(error) = keep(opened.versions()) {
            let file = version.file_name();
            tracing::warn!(
                file,
                "its version is not kept, and cannot be served after a change and a restart: {error}"
            );
        }
    }

    /// Finds the stored files of an approved version: the plugin, and its policy if changes of policies wait, too.
    pub fn stored_files(&self, version: &PinnedVersion) -> Option<StoredFiles> {
        let opened = self.opened()?;
        let store = opened.versions();
        let policy = match (self.mode, &version.policy) {
            (PinMode::Artifact, None) => Some(StoredPolicy::None),
            (PinMode::Artifact, Some(digest)) => Some(StoredPolicy::Copy(store.path(digest)?)),
            (PinMode::Open | PinMode::Surface, _) => None,
        };
        Some(StoredFiles { artifact: store.path(&version.artifact)?, policy })
    }

    /// Records what is served and held of a source. Writes only what is new.
    pub fn record(&self, source: PinSource, report: &PinReport) {
        let _turn = self.turn();
        let opened = {
            let mut known = self.known();
            let before = known.reports.insert(source, report.clone()).unwrap_or_default();
            let waits = |digest: &String| report.held.iter().any(|held| held.version.digest() == *digest);
            let digests = before.held.iter().map(|held| held.version.digest());
            let mut withdrawn = mem::take(&mut known.withdrawn);
            withdrawn.extend(digests);
            withdrawn.retain(|digest| !waits(digest));
            known.withdrawn = withdrawn;
            known.opened.clone()
        };
        opened.inspect(|lock| self.write(lock));
    }

    /// Writes what was reported and is not in the lock yet. To be called in turn.
    fn write(&self, lock: &VersionLock) {
        let (before, reports, withdrawn) = {
            let mut known = self.known();
            if known.trouble.is_some() {
                return;
            }
            known.written = Some(Instant::now());
            let reports: Vec<PinReport> = known.reports.values().cloned().collect();
            (Arc::clone(&known.document), reports, known.withdrawn.clone())
        };
        let apply = |lock: &mut LockDocument| {
            if lock.scope() == LockScope::Servers {
                withdrawn.iter().for_each(|digest| lock.withdraw(digest));
            }
            reports.iter().for_each(|report| report.apply(lock, self.mode));
        };
        let mut after = LockDocument::clone(&before);
        apply(&mut after);
        if after == *before {
            return self.known().withdrawn.clear();
        }
        match lock.update(apply) {
            Ok((document, ())) => {
                lock.versions().prune(document.digests());
                self.known().withdrawn.clear();
                // Read, not taken from above: by now, something else may have changed it.
                match lock.stamp() {
                    Ok(stamp) => self.read(lock, stamp),
                    Err(_) => self.known().stamp = None,
                }
            }
            Err(error) => {
                let mut known = self.known();
                known.set_trouble(Some(lock.advise(&error)));
                // Read again at the next look: the disk may have been full.
                known.stamp = None;
            }
        }
    }

    /// Reads the lock, whose stamp was this one before. To be called in turn.
    fn read(&self, lock: &VersionLock, stamp: LockStamp) {
        let (read, mut known) = (lock.read(), self.known());
        // What could not be read for a moment has the same stamp afterwards.
        known.stamp = Some(stamp).filter(|_| !matches!(read, Err(LockError::Read(_))));
        match read {
            Ok(document) => {
                known.document = Arc::new(document);
                known.set_trouble(None);
            }
            Err(error) => known.set_trouble(Some(lock.advise(&error))),
        }
    }

    /// What the host served and held when it last recorded it, also if the lock cannot be used.
    pub fn report(&self) -> PinReport {
        let known = self.known();
        let mut all = PinReport::default();
        for PinReport { served, held, settled } in known.reports.values() {
            all.served.extend_from_slice(served);
            all.held.extend_from_slice(held);
            all.settled.extend_from_slice(settled);
        }
        all
    }

    fn known(&self) -> MutexGuard<'_, KnownLock> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self) -> Option<VersionLock> {
        self.known().opened.clone()
    }
}

impl KnownLock {
    fn set_trouble(&mut self, trouble: Option<String>) {
        if self.trouble == trouble {
            return;
        }
        match &trouble {
            Some(why) => {
                tracing::error!("versions that were not approved before are not served: {}", printable(why))
            }
            None => tracing::info!("the lock of versions can be used again"),
        }
        self.trouble = trouble;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::pins::{fixture::version, pin_report::FIRST_USE};

    fn keeper(mode: PinMode, state: &Path) -> PinKeeper {
        let states = FacadeStates::new(state.to_owned(), None, None, BTreeMap::new());
        let keeper = PinKeeper::new(mode, Arc::new(states));
        keeper.look();
        keeper
    }

    fn held(version: PinnedVersion) -> PinReport {
        let held = PendingVersion {
            version,
            changes: vec![PinChange::Surface],
            flags: Vec::new(),
            since: String::new(),
            until: None,
        };
        PinReport { held: vec![held], ..PinReport::default() }
    }

    #[test]
    fn a_first_use_is_recorded_once_for_all_processes() {
        let state = tempfile::tempdir().unwrap();
        let rug = PinnedVersion { surface: "sha256:2".into(), ..version() };
        let [one, two] = [(); 2].map(|()| keeper(PinMode::Surface, state.path()));
        assert_eq!(one.decide(&version(), false), PinDecision::Record);
        assert_eq!(two.decide(&rug, false), PinDecision::Record, "nobody came first");
        one.record(PinSource::Facades, &PinReport { served: vec![version()], ..PinReport::default() });
        // The other one was slower: its version waits.
        two.record(PinSource::Facades, &PinReport { served: vec![rug.clone()], ..PinReport::default() });
        for keeper in [&one, &two] {
            assert!(matches!(keeper.decide(&rug, false), PinDecision::Hold(_)));
            assert_eq!(keeper.decide(&version(), false), PinDecision::Serve);
        }
        assert_eq!(one.approver(&version()).as_deref(), Some(FIRST_USE));
        two.record(PinSource::Facades, &held(rug.clone()));
        one.look();
        assert!(one.known().document.pending().any(|pending| pending.version == rug));
        two.record(PinSource::Facades, &PinReport { settled: vec![rug.key()], ..PinReport::default() });
        one.look();
        assert_eq!(one.known().document.pending().count(), 0);
    }

    #[test]
    fn only_approved_versions_are_served_without_a_usable_lock() {
        let state = tempfile::tempdir().unwrap();
        let keeper = keeper(PinMode::Surface, state.path());
        keeper.record(PinSource::Facades, &PinReport { served: vec![version()], ..PinReport::default() });
        std::fs::remove_file(state.path().join("loggia.lock")).unwrap();
        keeper.look();
        assert!(keeper.trouble().unwrap().contains("was removed; restore a copy"), "{:?}", keeper.trouble());
        assert_eq!(keeper.decide(&version(), false), PinDecision::Serve, "it was approved");
        let other = PinnedVersion { artifact: "sha256:2".into(), ..version() };
        assert_eq!(keeper.decide(&other, false), PinDecision::Hold(vec![PinChange::Lock]));
        let started = super::tests::keeper(PinMode::Surface, state.path());
        assert_eq!(started.decide(&version(), false), PinDecision::Hold(vec![PinChange::Lock]));
        started.record(PinSource::Facades, &PinReport { served: vec![version()], ..PinReport::default() });
        assert!(!state.path().join("loggia.lock").exists(), "it is not written anew");
    }
}
