//! The lock in a database, which servers share.
//!
//! Its entries are rows of their own, so that a change writes only what it changes, and `lock/head` has the revision: each commit
//! depends on it, so that servers that change the lock at once lose nothing. Surfaces of the versions are beside it, for diffs on any
//! machine. There is no seal: whoever can write to the database can approve.

use std::{io, sync::Arc};

use loggia_state::{
    COMMIT_BYTES, ChangeCondition, ChangeOperation, HostRecords, StateChange, StateError, StateFolder,
    StateSpace, StateStore, VALUE_BYTES,
};
use serde::{Deserialize, Serialize};

use super::{
    lock_document::{LockDocument, LockScope, format_now},
    lock_file::LockError,
    lock_rows::{HEAD, LOCK, LockRows, SURFACE, VERSION, changed_rows, named_surfaces, parse_rows, to_rows},
    version_store::VersionStore,
};

/// Rows that are read at once.
const PAGE: u32 = 1000;
/// Attempts to read or write, each after another server was quicker.
const ATTEMPTS: usize = 100;
/// Rows of one commit, and bytes after which it takes no more.
const BATCH: usize = 900;
const BATCH_BYTES: usize = COMMIT_BYTES / 3;

/// The lock that servers with a database share.
#[derive(Clone)]
pub struct SharedLock {
    store: StateStore,
    versions: Arc<VersionStore>,
}

#[derive(Serialize, Deserialize)]
struct LockHead {
    version: u32,
    revision: u64,
}

/// The lock as it is in the database.
struct LoadedLock {
    revision: u64,
    /// Condition under which it has not changed.
    head: ChangeCondition,
    rows: LockRows,
}

impl SharedLock {
    /// Locates the lock in the database of a folder.
    pub fn new(folder: &StateFolder, versions: &Arc<VersionStore>) -> Self {
        Self { store: folder.records(HostRecords::Versions), versions: Arc::clone(versions) }
    }

    /// Whether nothing was ever written to it.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn is_new(&self) -> Result<bool, LockError> {
        Ok(self.load()?.head == ChangeCondition::Absent)
    }

    /// Takes over what another lock has.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn adopt(&self, own: &LockDocument) -> Result<(), LockError> {
        let adopted = self.update(|lock| {
            for entry in own.entries() {
                let is_first = lock.entry(&entry.version.key()).is_none();
                is_first.then(|| lock.approve(entry.version.clone(), entry.approved.clone()));
            }
            for (digest, decision) in own.rejections() {
                lock.reject(digest.to_owned(), decision.clone());
            }
        });
        adopted.map(|_| ())
    }

    /// Returns a number that changes with each change.
    ///
    /// # Errors
    ///
    /// If the database cannot be reached.
    pub fn revision(&self) -> Result<u64, LockError> {
        let revision = self.store.commit(StateSpace::Shared, Vec::new());
        revision.map_err(|error| LockError::Read(io::Error::other(error)))
    }

    /// Reads the lock. One that was never written is empty.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or a later release wrote it.
    pub fn read(&self) -> Result<LockDocument, LockError> {
        let LoadedLock { revision, rows, .. } = self.load()?;
        parse_rows(revision, &rows)
    }

    /// Changes the lock, unless `change` leaves it as it is. Returns the lock as it is then. Another attempt is made if another server
    /// was quicker.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), or if it cannot be written.
    pub fn update<T>(
        &self,
        mut change: impl FnMut(&mut LockDocument) -> T,
    ) -> Result<(LockDocument, T), LockError> {
        self.change(|loaded| {
            let mut lock = parse_rows(loaded.revision, &loaded.rows)?;
            let result = change(&mut lock);
            // After the change, which may renew what expired while the database was unreachable.
            lock.expire(&format_now());
            Ok((lock, result))
        })
    }

    /// Replaces the lock by a new one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn replace(&self, mut change: impl FnMut(&mut LockDocument)) -> Result<LockDocument, LockError> {
        let replaced = self.change(|loaded| {
            let mut lock = LockDocument::new(LockScope::Servers);
            lock.revision = loaded.revision;
            change(&mut lock);
            Ok((lock, ()))
        });
        replaced.map(|(lock, ())| lock)
    }

    /// Reads a surface, as JSON.
    pub fn surface(&self, digest: &str) -> Option<Vec<u8>> {
        let key = format!("{SURFACE}{digest}");
        Some(self.store.get(StateSpace::Shared, &[key]).ok()?.pop()??.value)
    }

    fn change<T>(
        &self,
        mut change: impl FnMut(&LoadedLock) -> Result<(LockDocument, T), LockError>,
    ) -> Result<(LockDocument, T), LockError> {
        for _ in 0..ATTEMPTS {
            let loaded = self.load()?;
            let (mut lock, result) = change(&loaded)?;
            match self.commit(&loaded, &to_rows(&lock)?) {
                Ok(revision) => {
                    lock.revision = revision;
                    return Ok((lock, result));
                }
                Err(StateError::Conflict(_)) => {}
                Err(error) => return Err(LockError::Write(io::Error::other(error))),
            }
        }
        Err(LockError::Write(io::Error::other(StateError::Busy)))
    }

    fn load(&self) -> Result<LoadedLock, LockError> {
        for _ in 0..ATTEMPTS {
            match self.scan() {
                Err(StateError::Moved) => {}
                loaded => return loaded.map_err(|error| LockError::Read(io::Error::other(error)))?,
            }
        }
        Err(LockError::Read(io::Error::other(StateError::Busy)))
    }

    /// Reads all rows in one state.
    fn scan(&self) -> Result<Result<LoadedLock, LockError>, StateError> {
        let mut loaded = LoadedLock { revision: 0, head: ChangeCondition::Absent, rows: LockRows::new() };
        let (mut after, mut at) = (None::<String>, None);
        loop {
            let page = self.store.scan(StateSpace::Shared, LOCK, after.as_deref(), PAGE, at)?;
            after = page.items.last().map(|entry| entry.key.clone());
            at = Some(page.revision);
            for entry in page.items {
                if entry.key != HEAD {
                    loaded.rows.insert(entry.key, entry.value);
                    continue;
                }
                match serde_json::from_slice(&entry.value) {
                    Ok(LockHead { version: VERSION, revision }) => loaded.revision = revision,
                    Ok(LockHead { version, .. }) => return Ok(Err(LockError::Version(version))),
                    Err(error) => return Ok(Err(LockError::Changed(error.to_string()))),
                }
                loaded.head = ChangeCondition::Version(entry.version);
            }
            if !page.more {
                return Ok(Ok(loaded));
            }
        }
    }

    /// Writes the rows that differ; returns the revision. Many rows take several commits, each of whole entries.
    fn commit(&self, before: &LoadedLock, rows: &LockRows) -> Result<u64, StateError> {
        let (mut revision, mut head, known) = (before.revision, before.head, &before.rows);
        let mut changes = changed_rows(known, rows).peekable();
        let mut surfaces = self.changed_surfaces(known, rows).into_iter().peekable();
        while changes.peek().is_some() {
            revision += 1;
            let value = serde_json::to_vec(&LockHead { version: VERSION, revision })
                .map_err(|error| StateError::Invalid(error.to_string()))?;
            let mut batch = vec![StateChange {
                key: HEAD.to_owned(),
                expect: head,
                operation: ChangeOperation::Put(value),
            }];
            let mut bytes = 0;
            // Surfaces first: what a version publishes is known when the version is.
            while batch.len() < BATCH
                && bytes < BATCH_BYTES
                && let Some(change) = surfaces.next().or_else(|| changes.next())
            {
                bytes += change.key.len();
                if let ChangeOperation::Put(value) = &change.operation {
                    bytes += value.len();
                }
                batch.push(change);
            }
            head = ChangeCondition::Version(self.store.commit(StateSpace::Shared, batch)?);
        }
        Ok(revision)
    }

    /// Surfaces that the lock names from now on, as far as this server has them, and those that it no longer names.
    fn changed_surfaces(&self, before: &LockRows, after: &LockRows) -> Vec<StateChange> {
        let [before, after] = [before, after].map(named_surfaces);
        let stored = after.difference(&before).filter_map(|digest| {
            let surface = self.versions.surface(digest).filter(|surface| surface.len() <= VALUE_BYTES)?;
            Some((digest, ChangeOperation::Put(surface)))
        });
        let removed = before.difference(&after).map(|digest| (digest, ChangeOperation::Delete));
        let changes = stored.chain(removed).map(|(digest, operation)| StateChange {
            key: format!("{SURFACE}{digest}"),
            expect: ChangeCondition::Any,
            operation,
        });
        changes.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins::{
        OperatorDecision, PendingVersion, PinChange, PinnedVersion,
        canonical::surface_digest,
        fixture::{surface, version},
        lock_file::LockFile,
    };

    struct Stage {
        // Two machines with one store of records: here, that of the first.
        place: [tempfile::TempDir; 2],
        locks: [SharedLock; 2],
    }

    impl Stage {
        fn new() -> Self {
            let place = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let folder = StateFolder::open(place[0].path()).unwrap();
            let locks = place
                .each_ref()
                .map(|place| SharedLock::new(&folder, &Arc::new(VersionStore::new(place.path()))));
            Self { place, locks }
        }
    }

    fn decision() -> OperatorDecision {
        OperatorDecision { by: "ada".into(), at: "2026-01-01T00:00:00Z".into() }
    }

    fn of_artifact(artifact: &str) -> PinnedVersion {
        PinnedVersion { artifact: artifact.into(), ..version() }
    }

    fn pending(version: PinnedVersion) -> PendingVersion {
        let changes = vec![PinChange::Artifact];
        let until = Some("9998-01-01T00:00:00Z".to_owned());
        PendingVersion { version, changes, flags: Vec::new(), since: "1".into(), until }
    }

    #[test]
    fn servers_with_different_files_do_not_undo_each_others_records() {
        let Stage { place: _place, locks: [one, other] } = Stage::new();
        let [old, new] = ["sha256:1", "sha256:2"].map(of_artifact);
        assert_eq!(one.read().unwrap().entries().count(), 0);
        one.update(|lock| lock.approve(old.clone(), decision())).unwrap();
        let (_, ()) = other.update(|lock| lock.hold(pending(new.clone()))).unwrap();
        // The first server has nothing that waits.
        let (lock, ()) = one.update(|lock| lock.forget_pending(&old.key())).unwrap();
        assert_eq!(lock.pending().collect::<Vec<_>>(), [&pending(new.clone())]);
        let before = one.revision().unwrap();
        let (lock, ()) = other.update(|lock| lock.hold(pending(new.clone()))).unwrap();
        assert_eq!((one.revision().unwrap(), lock.revision), (before, 2), "nothing changed");
        one.update(|lock| lock.approve(new.clone(), decision())).unwrap();
        let lock = other.read().unwrap();
        assert!(lock.is_approved(&old) && lock.is_approved(&new), "while the update is rolled out");
        assert_eq!((&lock.entry(&new.key()).unwrap().version, lock.pending().count()), (&new, 0));
        let mut later = lock.clone();
        assert!(later.expire("9999-01-01T00:00:00Z"));
        assert!(!later.is_approved(&old) && later.is_approved(&new));
        let (lock, ()) = other.update(|lock| lock.hold(pending(new.clone()))).unwrap();
        assert_eq!(lock.pending().count(), 0, "it is approved");
        let (lock, ()) = one.update(|lock| lock.reject(new.digest(), decision())).unwrap();
        assert_eq!(other.read().unwrap(), lock);
        let replaced = one.replace(|lock| lock.approve(old.clone(), decision())).unwrap();
        assert_eq!((other.read().unwrap(), replaced.entries().count()), (replaced.clone(), 1));
        assert_eq!(replaced.rejection(&new.digest()), None);
    }

    #[test]
    fn servers_that_write_at_once_lose_nothing() {
        let Stage { place: _place, locks } = Stage::new();
        let approve = |lock: &SharedLock, writer: usize| {
            for n in 0..10 {
                let version = PinnedVersion { file: format!("/plugins/{writer}-{n}.wasm"), ..version() };
                lock.update(|lock| lock.approve(version.clone(), decision())).unwrap();
            }
        };
        std::thread::scope(|scope| {
            for (writer, lock) in locks.iter().enumerate() {
                scope.spawn(move || approve(lock, writer));
            }
        });
        let lock = locks[0].read().unwrap();
        assert_eq!((lock.revision, lock.entries().count()), (20, 20));
    }

    #[test]
    fn surfaces_are_stored_for_as_long_as_they_are_named() {
        let Stage { place, locks: [one, other] } = Stage::new();
        let digest = surface_digest(&surface());
        VersionStore::new(place[0].path()).put_surface(&digest, &surface()).unwrap();
        one.update(|lock| lock.hold(pending(version()))).unwrap();
        assert_eq!(other.surface(&digest), VersionStore::new(place[0].path()).surface(&digest));
        one.update(|lock| lock.withdraw(&version().digest())).unwrap();
        assert_eq!(other.surface(&digest), None);
    }

    /// A start with so many plugins takes several commits.
    #[test]
    fn a_large_lock_is_written_in_parts() {
        let Stage { place: _place, locks: [one, other] } = Stage::new();
        let (written, ()) = one
            .update(|lock| {
                for n in 0..2000 {
                    let file = format!("/plugins/{n}.wasm");
                    lock.approve(PinnedVersion { file, ..version() }, decision());
                }
            })
            .unwrap();
        assert!(written.revision > 1, "{}", written.revision);
        assert_eq!(other.read().unwrap(), written);
    }

    #[test]
    fn the_first_server_brings_its_own_lock() {
        let place = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(place.path()).unwrap();
        let own = LockFile::open(&folder).unwrap();
        own.update(|lock| {
            lock.approve(version(), decision());
            lock.reject("sha256:9".into(), decision());
        })
        .unwrap();
        let sealed = std::fs::read_to_string(own.path()).unwrap();
        std::fs::write(own.path(), sealed.replace("ada", "eve")).unwrap();
        let lock = SharedLock::new(&folder, &Arc::new(VersionStore::new(place.path())));
        assert!(own.read().is_err() && lock.is_new().unwrap(), "what was approved is unknown");
        std::fs::write(own.path(), sealed).unwrap();
        lock.adopt(&own.read().unwrap()).unwrap();
        let adopted = lock.read().unwrap();
        assert!(adopted.is_approved(&version()) && adopted.rejection("sha256:9").is_some());
        assert!(!lock.is_new().unwrap());
    }

    #[test]
    fn a_lock_of_a_later_release_is_not_read() {
        let Stage { place: _place, locks: [one, other] } = Stage::new();
        let value = serde_json::to_vec(&LockHead { version: VERSION + 1, revision: 1 }).unwrap();
        let head = StateChange {
            key: HEAD.into(),
            expect: ChangeCondition::Absent,
            operation: ChangeOperation::Put(value),
        };
        one.store.commit(StateSpace::Shared, vec![head]).unwrap();
        let error = other.update(|lock| lock.approve(version(), decision())).unwrap_err().to_string();
        assert!(error.contains("has version 2"), "{error}");
    }
}
