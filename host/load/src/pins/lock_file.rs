//! The lock in the state folder, `loggia.lock`: readable JSON, sealed by the folder's secret, shared by processes.
//!
//! A second file, `lock.head`, has the revision of the lock that was written last. So a lock that was edited, removed, or replaced by
//! an older copy is noticed, as long as not both files are forged by somebody who can read the secret. A process also remembers the
//! latest revision that it has seen, so that it notices if both files are removed or replaced.

use std::{
    fs::{self, TryLockError},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use loggia_state::{StateError, StateFolder};
use loggia_system::{file::private_options, folder};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::lock_document::{LockDocument, LockFrame, LockScope, StoredLock};
use crate::file_stamp::FileStamp;

/// File name in the state folder.
const FILE: &str = "loggia.lock";
const HEAD: &str = "lock.head";
const GUARD: &str = "lock.guard";
/// Version of the format.
const VERSION: u32 = 1;
/// Maximum size: about ten thousand facades.
const MAX_BYTES: u64 = 16 << 20;
/// Lock timeout. A process holds the lock while it writes two small files.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Why the lock cannot be used. Reads after "the lock".
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// It is not what Loggia writes.
    #[error("was changed by something other than Loggia: {0}")]
    Changed(String),
    /// It is gone.
    #[error("was removed")]
    Removed,
    /// It is older than the one that was written last.
    #[error("was replaced by an older copy: it has revision {0}, and the last one was {1}")]
    Older(u64, u64),
    /// A later release wrote it.
    #[error("has version {0}, and this release reads version {VERSION}")]
    Version(u32),
    /// It cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
}

/// The lock of a state folder.
#[derive(Clone)]
pub struct LockFile {
    folder: PathBuf,
    secret: [u8; 32],
    /// Latest revision that this process has seen. Relaxed: it only grows, and no other data depends on it.
    seen: Arc<AtomicU64>,
}

/// The file: the lock and its seal.
#[derive(Serialize)]
struct SealedLock {
    #[serde(flatten)]
    lock: StoredLock,
    seal: String,
}

/// What `lock.head` has.
#[derive(Serialize, Deserialize)]
struct LockHead {
    revision: u64,
    seal: String,
}

impl LockFile {
    /// Opens the lock of a state folder. The folder's own secret seals it, so that the server and the commands read the same, with a
    /// database or without.
    ///
    /// # Errors
    ///
    /// If the secret cannot be used.
    pub fn open(folder: &StateFolder) -> Result<Self, StateError> {
        Ok(Self::new(folder.path(), folder.own_secret()?))
    }

    /// Locates the lock of a state folder with this secret.
    fn new(folder: &Path, secret: [u8; 32]) -> Self {
        Self { folder: folder.to_owned(), secret, seen: Arc::default() }
    }

    /// Path of the file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Metadata of lock and head, which change with each write. `None` for a missing file.
    pub fn stamps(&self) -> [Option<FileStamp>; 2] {
        [FILE, HEAD]
            .map(|name| fs::metadata(self.folder.join(name)).ok().map(|meta| FileStamp::from_metadata(&meta)))
    }

    /// Reads the lock. One that was never written is empty.
    ///
    /// # Errors
    ///
    /// If it was changed by something else, removed or replaced by an older copy, or cannot be read.
    pub fn read(&self) -> Result<LockDocument, LockError> {
        // The head is read first: a process that writes meanwhile writes the lock before the head.
        let head = self.read_head()?;
        let last = head.unwrap_or_default().max(self.seen.load(Ordering::Relaxed));
        let Some(text) = self.read_bounded(FILE)? else {
            return if last > 0 { Err(LockError::Removed) } else { Ok(LockDocument::default()) };
        };
        let changed = |error: serde_json::Error| LockError::Changed(error.to_string());
        let LockFrame { version, seal } = serde_json::from_slice(&text).map_err(changed)?;
        match version.as_u64().and_then(|version| u32::try_from(version).ok()) {
            Some(VERSION) => {}
            Some(version) if version > VERSION => return Err(LockError::Version(version)),
            _ => return Err(LockError::Changed("it has no version".to_owned())),
        }
        let lock: StoredLock = serde_json::from_slice(&text).map_err(changed)?;
        if !self.is_sealed(&canonical_text(&lock)?, &seal) {
            return Err(LockError::Changed("its seal does not fit".to_owned()));
        }
        match head {
            None => Err(LockError::Changed(format!("{HEAD} is missing"))),
            Some(_) if lock.revision < last => Err(LockError::Older(lock.revision, last)),
            Some(_) => {
                self.seen.fetch_max(lock.revision, Ordering::Relaxed);
                Ok(LockDocument::from_stored(LockScope::Folder, lock))
            }
        }
    }

    /// Changes the lock, unless `change` leaves it as it is. Returns the lock as it is then. Other processes wait.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), or if it cannot be written.
    pub fn update<T>(
        &self,
        mut change: impl FnMut(&mut LockDocument) -> T,
    ) -> Result<(LockDocument, T), LockError> {
        let _guard = self.guard().map_err(LockError::Write)?;
        let before = self.read()?;
        let mut lock = before.clone();
        let result = change(&mut lock);
        if lock != before {
            lock.revision = before.revision + 1;
            self.write(&lock)?;
        }
        Ok((lock, result))
    }

    /// Replaces a lock that cannot be used, or any other, by a new one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn replace(&self, mut change: impl FnMut(&mut LockDocument)) -> Result<LockDocument, LockError> {
        let _guard = self.guard().map_err(LockError::Write)?;
        // Later than any that a running process has seen, also if both files were removed: seconds pass faster than operators decide.
        let clock = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        let head = self.read_head().ok().flatten().unwrap_or_default();
        let mut lock = LockDocument::from_revision(clock.max(head + 1));
        change(&mut lock);
        self.write(&lock)?;
        Ok(lock)
    }

    fn write(&self, lock: &LockDocument) -> Result<(), LockError> {
        let stored = lock.to_stored(VERSION);
        let seal = self.seal(&canonical_text(&stored)?);
        let mut text = serde_json::to_vec_pretty(&SealedLock { lock: stored, seal })
            .map_err(|error| LockError::Write(error.into()))?;
        text.push(b'\n');
        if text.len() as u64 > MAX_BYTES {
            let most = format!("it would be larger than {MAX_BYTES} bytes");
            return Err(LockError::Write(io::Error::other(most)));
        }
        // If the process ends between two writes, the head names an earlier revision, which is accepted. Without any head, a lock
        // is not.
        if self.stamps()[1].is_none() {
            self.put_head(0)?;
        }
        self.put(FILE, &text)?;
        self.put_head(lock.revision)?;
        self.seen.fetch_max(lock.revision, Ordering::Relaxed);
        folder::sync(&self.folder).map_err(LockError::Write)
    }

    fn put_head(&self, revision: u64) -> Result<(), LockError> {
        let head = LockHead { revision, seal: self.seal(&head_text(revision)) };
        let text = serde_json::to_vec(&head).map_err(|error| LockError::Write(error.into()))?;
        self.put(HEAD, &text)
    }

    /// Writes a file atomically.
    fn put(&self, name: &str, text: &[u8]) -> Result<(), LockError> {
        let put = || {
            let mut file = tempfile::Builder::new().prefix(".lock-").tempfile_in(&self.folder)?;
            file.write_all(text)?;
            file.as_file().sync_all()?;
            file.persist(self.folder.join(name)).map(drop).map_err(|error| error.error)
        };
        put().map_err(LockError::Write)
    }

    /// Reads the revision that was written last; `None` if none ever was.
    fn read_head(&self) -> Result<Option<u64>, LockError> {
        let Some(text) = self.read_bounded(HEAD)? else { return Ok(None) };
        let head: Option<LockHead> = serde_json::from_slice(&text).ok();
        let head = head.filter(|head| self.is_sealed(&head_text(head.revision), &head.seal));
        let changed = || LockError::Changed(format!("the seal of {HEAD} does not fit"));
        head.map(|head| Some(head.revision)).ok_or_else(changed)
    }

    fn read_bounded(&self, name: &str) -> Result<Option<Vec<u8>>, LockError> {
        let path = self.folder.join(name);
        match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Ok(meta) if meta.len() > MAX_BYTES || !meta.is_file() => {
                Err(LockError::Changed(format!("{name} is not a file of at most {MAX_BYTES} bytes")))
            }
            found => found.and_then(|_| fs::read(&path)).map(Some).map_err(LockError::Read),
        }
    }

    fn seal(&self, text: &str) -> String {
        HEXLOWER.encode(&self.mac(text).finalize().into_bytes())
    }

    fn is_sealed(&self, text: &str, seal: &str) -> bool {
        loggia_sandbox::ArtifactDigest::parse(seal)
            .is_some_and(|seal| self.mac(text).verify_slice(&seal.0).is_ok())
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        // A key that is as long as the block; HMAC fills shorter ones with zeros, too.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.secret);
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        mac.update(text.as_bytes());
        mac
    }

    fn guard(&self) -> io::Result<fs::File> {
        let guard =
            private_options().create(true).truncate(false).write(true).open(self.folder.join(GUARD))?;
        let begun = Instant::now();
        loop {
            match guard.try_lock() {
                Ok(()) => return Ok(guard),
                Err(TryLockError::WouldBlock) if begun.elapsed() < TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The text that the seal covers.
fn canonical_text(lock: &StoredLock) -> Result<String, LockError> {
    let text = serde_json::to_string(lock).map_err(|error| LockError::Changed(error.to_string()))?;
    Ok(format!("loggia.lock\n{text}"))
}

fn head_text(revision: u64) -> String {
    format!("lock.head\n{revision}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins::{OperatorDecision, PendingVersion, PinChange, PinnedVersion, fixture::version};

    fn decision() -> OperatorDecision {
        OperatorDecision { by: "ada".into(), at: "2026-01-01T00:00:00Z".into() }
    }

    fn pending() -> PendingVersion {
        let version = PinnedVersion { artifact: "sha256:2".into(), ..version() };
        PendingVersion {
            version,
            changes: vec![PinChange::Artifact],
            flags: vec!["x".into()],
            since: "1".into(),
            until: None,
        }
    }

    struct Stage {
        folder: tempfile::TempDir,
        file: LockFile,
    }

    impl Stage {
        /// A lock with an approved, a waiting and a rejected version, after two changes.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = LockFile::new(folder.path(), [7; 32]);
            assert_eq!(file.read().unwrap(), LockDocument::default());
            file.update(|lock| lock.approve(version(), decision())).unwrap();
            file.update(|lock| {
                lock.hold(pending());
                lock.reject("sha256:9".into(), decision());
            })
            .unwrap();
            Self { folder, file }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }
    }

    #[test]
    fn a_lock_is_read_as_it_was_written() {
        let Stage { folder, file } = Stage::new();
        let lock = file.read().unwrap();
        assert_eq!(lock.revision, 2);
        assert_eq!(lock.entry("/plugins/notes").unwrap().version, version());
        assert_eq!(lock.pending().collect::<Vec<_>>(), [&pending()]);
        assert_eq!(lock.rejection("sha256:9"), Some(&decision()));
        let before = file.stamps();
        assert_eq!(file.update(|lock| lock.forget_pending("/other")).unwrap().0, lock);
        assert_eq!(file.stamps(), before, "nothing changed");
        let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(text.contains("\"name\": \"notes\""), "readable: {text}");
    }

    #[test]
    fn changes_by_others_are_refused_until_replaced() {
        type Change = fn(&Stage);
        let changes: [(&str, Change, &str); 11] = [
            (
                "edited",
                |stage| {
                    let text = fs::read_to_string(stage.file.path()).unwrap();
                    fs::write(stage.file.path(), text.replace("sha256:1", "sha256:3")).unwrap();
                },
                "its seal does not fit",
            ),
            (
                "cut",
                |stage| fs::write(stage.file.path(), "{\"version\": 1").unwrap(),
                "was changed by something",
            ),
            ("no lock at all", |stage| fs::write(stage.file.path(), "[]").unwrap(), "it has no version"),
            ("later", |stage| fs::write(stage.file.path(), "{\"version\": 2}").unwrap(), "has version 2"),
            ("removed", |stage| fs::remove_file(stage.file.path()).unwrap(), "was removed"),
            (
                "removed with its head",
                |stage| [FILE, HEAD].iter().for_each(|name| fs::remove_file(stage.path(name)).unwrap()),
                "was removed",
            ),
            (
                "begun again",
                |stage| {
                    [FILE, HEAD].iter().for_each(|name| fs::remove_file(stage.path(name)).unwrap());
                    let other = LockFile::new(stage.folder.path(), [7; 32]);
                    other.update(|lock| lock.approve(version(), decision())).unwrap();
                },
                "it has revision 1, and the last one was 2",
            ),
            ("without its head", |stage| fs::remove_file(stage.path(HEAD)).unwrap(), "lock.head is missing"),
            (
                "with a forged head",
                |stage| fs::write(stage.path(HEAD), "{\"revision\":1,\"seal\":\"00\"}").unwrap(),
                "the seal of lock.head",
            ),
            (
                "older",
                |stage| {
                    let old = fs::read(stage.file.path()).unwrap();
                    stage.file.update(|lock| lock.forget_pending("/plugins/notes")).unwrap();
                    fs::write(stage.file.path(), old).unwrap();
                },
                "it has revision 2, and the last one was 3",
            ),
            (
                "of another folder",
                |stage| {
                    let other = Stage::new();
                    let forged = LockFile::new(other.folder.path(), [8; 32]);
                    forged.replace(|lock| lock.approve(version(), decision())).unwrap();
                    fs::copy(forged.path(), stage.file.path()).unwrap();
                },
                "its seal does not fit",
            ),
        ];
        for (what, change, expected) in changes {
            let stage = Stage::new();
            change(&stage);
            let error = stage.file.read().unwrap_err().to_string();
            assert!(error.contains(expected), "{what}: {error}");
            let update = stage.file.update(|lock| lock.approve(version(), decision()));
            assert_eq!(update.unwrap_err().to_string(), error, "{what}: it is not written over");
            let replaced = stage.file.replace(|lock| lock.approve(version(), decision())).unwrap();
            assert_eq!(stage.file.read().unwrap(), replaced, "{what}");
            assert_eq!(replaced.pending().count(), 0);
        }
    }

    #[test]
    fn an_interrupted_write_leaves_a_usable_lock() {
        let stage = Stage::new();
        let head = fs::read(stage.path(HEAD)).unwrap();
        let (after, ()) = stage.file.update(|lock| lock.forget_pending("/plugins/notes")).unwrap();
        fs::write(stage.path(HEAD), head).unwrap();
        assert_eq!(stage.file.read().unwrap(), after, "the head was not written yet");
        // Before the first lock.
        let folder = tempfile::tempdir().unwrap();
        let file = LockFile::new(folder.path(), [7; 32]);
        file.put_head(0).unwrap();
        assert_eq!(file.read().unwrap(), LockDocument::default());
    }

    #[test]
    fn processes_that_write_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let write = |writer: usize| {
            // Each has its own open files, as processes have.
            let file = LockFile::new(folder.path(), [7; 32]);
            for n in 0..20 {
                let version = PinnedVersion { file: format!("/plugins/{writer}-{n}.wasm"), ..version() };
                file.update(|lock| lock.approve(version.clone(), decision())).unwrap();
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|writer| drop(scope.spawn(move || write(writer)))));
        let lock = LockFile::new(folder.path(), [7; 32]).read().unwrap();
        assert_eq!((lock.revision, lock.entries().count()), (80, 80));
    }
}
