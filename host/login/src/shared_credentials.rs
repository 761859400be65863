//! Sealed credentials in the database of several servers.

use std::{
    any::Any,
    io,
    path::PathBuf,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use data_encoding::HEXLOWER;
use loggia_credentials::{SealedRecords, parse_key};
use loggia_egress::CallerKey;
use loggia_state::{
    ChangeCondition, ChangeOperation, HostRecords, StateChange, StateError, StateFolder, StateSpace,
    StateStore,
};

/// Start of the keys of credentials.
const CREDENTIALS: &str = "credential/";
/// Entries that are read at once.
const PAGE: u32 = 1000;
/// Time after which a lock ends whose holder has ended: longer than any change takes.
const LOCK_TIME: Duration = Duration::from_secs(120);
/// Longest wait for a lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two attempts to get a lock.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Sealed credentials that servers with a database share.
#[derive(Debug)]
pub struct SharedCredentials(StateStore);

impl SharedCredentials {
    /// Uses the database of a state folder.
    pub fn new(folder: &StateFolder) -> Self {
        Self(folder.records(HostRecords::Credentials))
    }

    fn commit(
        &self,
        key: String,
        expect: ChangeCondition,
        operation: ChangeOperation,
    ) -> Result<u64, StateError> {
        self.0.commit(StateSpace::Shared, vec![StateChange { key, expect, operation }])
    }
}

fn key(facade: &str, caller: CallerKey) -> String {
    format!("{CREDENTIALS}{facade}/{}", HEXLOWER.encode(&caller.0))
}

/// Right to change a credential: an entry that nobody else can create.
struct RecordLock {
    store: StateStore,
    key: String,
    version: u64,
}

impl Drop for RecordLock {
    fn drop(&mut self) {
        let (store, key, expect) =
            (self.store.clone(), self.key.clone(), ChangeCondition::Version(self.version));
        let release = move || {
            let change = StateChange { key, expect, operation: ChangeOperation::Delete };
            if let Err(error) = store.commit(StateSpace::Shared, vec![change]) {
                tracing::debug!("a lock of a credential ends by itself: {error}");
            }
        };
        // A task of the runtime must not wait for the database.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(release)),
            Err(_) => release(),
        }
    }
}

impl SealedRecords for SharedCredentials {
    fn read(&self, facade: &str, caller: CallerKey) -> io::Result<Option<Vec<u8>>> {
        let mut found = self.0.get(StateSpace::Shared, &[key(facade, caller)]).map_err(io::Error::other)?;
        Ok(found.pop().flatten().map(|entry| entry.value))
    }

    fn write(&self, facade: &str, caller: CallerKey, sealed: &[u8]) -> io::Result<()> {
        let put = ChangeOperation::Put(sealed.to_vec());
        self.commit(key(facade, caller), ChangeCondition::Any, put).map(|_| ()).map_err(io::Error::other)
    }

    fn remove(&self, facade: &str, caller: CallerKey) -> io::Result<bool> {
        let is_there = self.read(facade, caller)?.is_some();
        let removed = self.commit(key(facade, caller), ChangeCondition::Any, ChangeOperation::Delete);
        removed.map(|_| is_there).map_err(io::Error::other)
    }

    fn list(&self) -> io::Result<Vec<(String, CallerKey)>> {
        let (mut listed, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.0.scan(StateSpace::Shared, CREDENTIALS, after.as_deref(), PAGE, None);
            let page = page.map_err(io::Error::other)?;
            for entry in &page.items {
                let owner = entry.key.strip_prefix(CREDENTIALS).and_then(|owner| owner.split_once('/'));
                listed.extend(owner.and_then(|(facade, key)| Some((facade.to_owned(), parse_key(key)?))));
            }
            after = page.items.last().map(|entry| entry.key.clone());
            if !page.more {
                return Ok(listed);
            }
        }
    }

    fn lock(&self, facade: &str, caller: CallerKey) -> io::Result<Box<dyn Any + Send>> {
        let key = format!("lock/{facade}/{}", HEXLOWER.encode(&caller.0));
        let begun = Instant::now();
        loop {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + LOCK_TIME;
            let until = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
            let put = ChangeOperation::PutUntil(Vec::new(), until);
            match self.commit(key.clone(), ChangeCondition::Absent, put) {
                Ok(version) => return Ok(Box::new(RecordLock { store: self.0.clone(), key, version })),
                Err(StateError::Conflict(_) | StateError::Busy) if begun.elapsed() < LOCK_PATIENCE => {
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    fn place(&self, facade: &str, caller: CallerKey) -> PathBuf {
        self.root().join(facade).join(HEXLOWER.encode(&caller.0))
    }

    fn root(&self) -> PathBuf {
        PathBuf::from("credentials of the database")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn credentials_are_kept_by_facade_and_caller() {
        let place = tempfile::tempdir().unwrap();
        let records = SharedCredentials::new(&StateFolder::open(place.path()).unwrap());
        let (ada, bob) = (CallerKey([1; 32]), CallerKey([2; 32]));
        assert!(records.list().unwrap().is_empty() && !records.remove("shop", ada).unwrap());
        records.write("shop", bob, b"1").unwrap();
        records.write("shop", ada, b"2").unwrap();
        records.write("shop", ada, b"3").unwrap();
        records.write("mail", ada, b"4").unwrap();
        let _lock = records.lock("shop", ada).unwrap();
        let owners: Vec<_> =
            [("mail", ada), ("shop", ada), ("shop", bob)].map(|(name, key)| (name.to_owned(), key)).into();
        assert_eq!(records.list().unwrap(), owners, "locks are no credentials");
        assert_eq!(records.read("shop", ada).unwrap().as_deref(), Some(b"3".as_slice()));
        assert!(records.remove("shop", ada).unwrap());
        assert_eq!(records.read("shop", ada).unwrap(), None);
        assert_eq!(records.read("mail", bob).unwrap(), None);
    }

    #[test]
    fn one_server_changes_a_credential_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let folder = StateFolder::open(place.path()).unwrap();
        let (one, other) = (SharedCredentials::new(&folder), SharedCredentials::new(&folder));
        let (ada, bob) = (CallerKey([1; 32]), CallerKey([2; 32]));
        let held = one.lock("shop", ada).unwrap();
        drop(other.lock("shop", bob).unwrap());
        let (done, order) = mpsc::channel();
        std::thread::scope(|scope| {
            let (waits, done) = (done.clone(), done);
            scope.spawn(move || {
                let lock = other.lock("shop", ada).unwrap();
                waits.send("the second").unwrap();
                drop(lock);
            });
            done.send("the first").unwrap();
            drop(held);
        });
        assert_eq!(order.iter().collect::<Vec<_>>(), ["the first", "the second"]);
    }
}
