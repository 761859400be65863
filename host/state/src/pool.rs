//! The connections to one store.
//!
//! One writes, in turns; others read, so that a `get` never waits for the disk that a commit waits for.

use std::{path::Path, time::Instant};

use loggia_system::FileIdentity;
use parking_lot::{FairMutex, Mutex};
use rusqlite::Connection;

use crate::{
    StateError,
    connection::{self, BUSY_TIMEOUT},
    error::ConnectionError,
    file::StoreFile,
};

/// Idle connections for reading that are kept; further ones are opened as needed. Each takes two descriptors and about
/// 100 KiB.
const READERS: usize = 2;
/// Attempts to open a file that is removed while it is opened.
const ATTEMPTS: usize = 3;

/// The connections to one store, none at first.
#[derive(Debug)]
pub(crate) struct StorePool {
    file: StoreFile,
    /// Opens the connection that writes.
    open_writer: ConnectionOpener,
    /// The connection that writes, handed from one thread to the next in the order in which they asked for it: an unfair
    /// mutex goes to the thread that has just released it, so beside a guest that commits in a tight loop another's commit
    /// would wait for long. Held for a whole commit, disk included, and waited for until a deadline at most. `readers` is
    /// never locked meanwhile.
    writer: FairMutex<Option<PooledConnection>>,
    /// Idle connections that read. Locked to take one out or put one back, never while one is used.
    readers: Mutex<Vec<PooledConnection>>,
}

/// Opens an existing file.
type ConnectionOpener = fn(&Path) -> Result<Connection, StateError>;

/// A connection and its file. Each request compares: if the file was replaced or removed meanwhile, writes to it would be
/// lost.
#[derive(Debug)]
struct PooledConnection {
    connection: Connection,
    file: FileIdentity,
}

impl StorePool {
    /// Commits to a temporary store do not wait for the disk.
    pub(crate) fn new(file: StoreFile, is_temporary: bool) -> Self {
        let open_writer = if is_temporary { connection::open_temporary } else { connection::open };
        Self { file, open_writer, writer: FairMutex::new(None), readers: Mutex::default() }
    }

    pub(crate) fn file(&self) -> &StoreFile {
        &self.file
    }

    /// Runs a read. `None` if there is no file.
    pub(crate) fn read<R>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R, ConnectionError>,
    ) -> Result<Option<R>, StateError> {
        for _ in 0..ATTEMPTS {
            let Some(identity) = self.file.identity()? else {
                self.readers.lock().clear();
                return Ok(None);
            };
            let kept = {
                let mut readers = self.readers.lock();
                readers.retain(|held| held.file == identity);
                readers.pop()
            };
            let Some(held) = self.connect(identity, kept, connection::open_reader)? else { continue };
            let done = work(&held.connection).map_err(|error| error.with_path(self.file.path()));
            // A connection that failed may be to a file that is repaired later.
            if !matches!(done, Err(StateError::Storage(_))) {
                let mut readers = self.readers.lock();
                if readers.len() < READERS {
                    readers.push(held);
                }
            }
            return done.map(Some);
        }
        Err(self.file_vanishes())
    }

    /// Runs a write. Creates the file if there is none; its versions continue from this revision.
    pub(crate) fn write<R>(
        &self,
        revision: u64,
        work: impl FnOnce(&mut Connection) -> Result<R, ConnectionError>,
    ) -> Result<R, StateError> {
        // Of the wait for threads of this process and for other processes together.
        let deadline = Instant::now() + BUSY_TIMEOUT;
        let Some(mut kept) = self.writer.try_lock_until(deadline) else { return Err(StateError::Busy) };
        for _ in 0..ATTEMPTS {
            let Some(identity) = self.file.identity()? else {
                *kept = None;
                self.file.create(revision)?;
                continue;
            };
            let held = kept.take().filter(|held| held.file == identity);
            let Some(mut held) = self.connect(identity, held, self.open_writer)? else { continue };
            let done = connection::wait_until(&mut held.connection, deadline).map_err(ConnectionError::from);
            let done = done.and_then(|()| work(&mut held.connection));
            let done = done.map_err(|error| error.with_path(self.file.path()));
            if !matches!(done, Err(StateError::Storage(_))) {
                *kept = Some(held);
            }
            return done;
        }
        Err(self.file_vanishes())
    }

    /// Returns the kept connection or opens one; `None` if the file was replaced while it was opened.
    fn connect(
        &self,
        identity: FileIdentity,
        kept: Option<PooledConnection>,
        open: ConnectionOpener,
    ) -> Result<Option<PooledConnection>, StateError> {
        if kept.is_some() {
            return Ok(kept);
        }
        let opened = open(self.file.path());
        if self.file.identity()? != Some(identity) {
            return Ok(None);
        }
        Ok(Some(PooledConnection { connection: opened?, file: identity }))
    }

    fn file_vanishes(&self) -> StateError {
        let message = format!("{}: the file is taken away again and again", self.file.path().display());
        StateError::Storage(message)
    }
}

/// The properties of `FairMutex` that the pool relies on.
#[cfg(test)]
mod tests {
    use std::{
        sync::mpsc,
        thread,
        time::{Duration, Instant},
    };

    use parking_lot::FairMutex;

    fn long() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    /// Waits until a thread of this process sleeps, which is when it has joined the queue.
    fn wait_for_sleep(thread: i32) {
        let stat = format!("/proc/self/task/{thread}/stat");
        let sleeps = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") S "));
        while !sleeps() {
            thread::yield_now();
        }
    }

    #[test]
    fn turns_come_in_the_order_they_were_asked_for() {
        let order = FairMutex::new(Vec::new());
        let (started, thread_ids) = mpsc::channel();
        thread::scope(|scope| {
            let held = order.lock();
            for n in 0..20 {
                let (order, started) = (&order, started.clone());
                scope.spawn(move || {
                    started.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
                    order.try_lock_until(long()).unwrap().push(n);
                });
                // Each joins the queue before the next one starts.
                wait_for_sleep(thread_ids.recv().unwrap());
            }
            drop(held);
        });
        assert_eq!(order.into_inner(), (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_thread_that_releases_the_lock_does_not_overtake_the_waiting_one() {
        let order = FairMutex::new(Vec::new());
        let (started, thread_ids) = mpsc::channel();
        thread::scope(|scope| {
            let mut held = order.lock();
            let waiting = &order;
            scope.spawn(move || {
                started.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
                waiting.try_lock_until(long()).unwrap().push("waiting");
            });
            wait_for_sleep(thread_ids.recv().unwrap());
            held.push("first");
            drop(held);
            order.try_lock_until(long()).unwrap().push("first again");
        });
        assert_eq!(order.into_inner(), ["first", "waiting", "first again"]);
    }

    #[test]
    fn who_waits_too_long_goes_away_and_holds_up_nobody() {
        let lock = FairMutex::new(());
        let (done, wait) = mpsc::channel::<()>();
        let (locked, is_locked) = mpsc::channel();
        thread::scope(|scope| {
            let lock = &lock;
            scope.spawn(move || {
                let _held = lock.lock();
                locked.send(()).unwrap();
                wait.recv().is_err()
            });
            is_locked.recv().unwrap();
            assert!(lock.try_lock_until(Instant::now()).is_none());
            drop(done);
            assert!(lock.try_lock_until(long()).is_some());
            // A free lock is taken even when the deadline has passed.
            assert!(lock.try_lock_until(Instant::now()).is_some());
        });
    }
}
