//! The adapter of the gate's port.

use std::{fs, io, path::Path};

use futures_util::{FutureExt, future};
use loggia_gate::journal::{
    ClaimedRun, Journal, JournalError, JournalFuture, NewRun, RetentionLimits, RunLease, StoredRun,
};
use loggia_system::folder::ensure_private;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    committer::{CommitQueue, CommitWork, RunDatabase},
    holder::HolderLock,
    query, record,
};

/// File of the journal, in the state folder.
const FILE: &str = "journal.db";
/// Folder of the locks of hosts, in the state folder.
const HOLDERS: &str = "journal-hosts";

/// Journal in a SQLite file. The file is created when the first run is recorded.
pub struct SqliteJournal {
    queue: CommitQueue,
}

impl SqliteJournal {
    /// Opens the journal of a state folder, and starts its thread.
    ///
    /// # Errors
    ///
    /// If the folder cannot be used, or no thread can be started.
    pub fn open(state: &Path, limits: RetentionLimits) -> io::Result<Self> {
        let state = &fs::canonicalize(ensure_private(state)?)?;
        let holders = ensure_private(&state.join(HOLDERS))?.to_owned();
        let database = RunDatabase {
            path: state.join(FILE),
            connection: None,
            holder: HolderLock::acquire(holders)?,
            limits,
            finished: 0,
        };
        Ok(Self { queue: CommitQueue::start(database)? })
    }

    /// Queues an operation.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        needs_file: bool,
        missing: T,
        work: impl FnOnce(&Connection, &HolderLock) -> Result<T, JournalError> + Send + 'static,
    ) -> JournalFuture<T> {
        let (reply, answer) = oneshot::channel();
        let work = Operation { work: Some(work), missing: Some(missing), done: None, reply: Some(reply) };
        if self.queue.push(needs_file, Box::new(work)).is_err() {
            return future::ready(Err(ended())).boxed();
        }
        async move { answer.await.unwrap_or_else(|_| Err(ended())) }.boxed()
    }
}

fn ended() -> JournalError {
    JournalError::Storage("its thread has ended".to_owned())
}

impl Journal for SqliteJournal {
    fn create(&self, run: NewRun) -> JournalFuture<()> {
        self.run(true, (), move |connection, holder| record::create(connection, holder.name(), &run))
    }

    fn append(&self, lease: RunLease, first: u64, entries: Vec<Vec<u8>>) -> JournalFuture<()> {
        self.run(true, (), move |connection, holder| {
            record::append(connection, holder.name(), &lease, first, &entries)
        })
    }

    fn finish(&self, lease: RunLease, outcome: Vec<u8>) -> JournalFuture<()> {
        self.run(true, (), move |connection, holder| {
            record::finish(connection, holder.name(), &lease, &outcome)
        })
    }

    fn claim(&self, facades: Vec<String>, most: usize) -> JournalFuture<Vec<ClaimedRun>> {
        self.run(false, Vec::new(), move |connection, holder| {
            query::claim(connection, holder, &facades, most)
        })
    }

    fn release(&self, lease: RunLease) -> JournalFuture<()> {
        self.run(true, (), move |connection, holder| record::release(connection, holder.name(), &lease))
    }

    fn load(&self, run: String) -> JournalFuture<Option<StoredRun>> {
        self.run(false, None, move |connection, _| query::load(connection, &run))
    }

    fn history(&self, run: String) -> JournalFuture<Vec<Vec<u8>>> {
        self.run(false, Vec::new(), move |connection, _| query::history(connection, &run))
    }

    fn add(&self, run: NewRun, entries: Vec<Vec<u8>>) -> JournalFuture<()> {
        self.run(true, (), move |connection, holder| {
            if query::load(connection, &run.id)?.is_some() {
                return Ok(());
            }
            record::create(connection, holder.name(), &run)?;
            let lease = RunLease { run: run.id, fence: 1 };
            record::append(connection, holder.name(), &lease, 0, &entries)?;
            record::release(connection, holder.name(), &lease)
        })
    }

    fn request_cancel(&self, run: String) -> JournalFuture<bool> {
        self.run(false, false, move |connection, _| record::request_cancel(connection, &run))
    }

    fn cancel_requests(&self) -> JournalFuture<Vec<String>> {
        self.run(false, Vec::new(), |connection, holder| query::cancel_requests(connection, holder.name()))
    }

    fn list(&self, facade: Option<String>, most: usize) -> JournalFuture<Vec<StoredRun>> {
        self.run(false, Vec::new(), move |connection, _| query::list(connection, facade.as_deref(), most))
    }
}

/// One operation: its result is kept until the commit.
struct Operation<T, W> {
    work: Option<W>,
    /// Result without a file.
    missing: Option<T>,
    done: Option<Result<T, JournalError>>,
    reply: Option<oneshot::Sender<Result<T, JournalError>>>,
}

impl<T, W> CommitWork for Operation<T, W>
where
    T: Send + 'static,
    W: FnOnce(&Connection, &HolderLock) -> Result<T, JournalError> + Send + 'static,
{
    fn run(&mut self, connection: &Connection, holder: &HolderLock) -> Result<(), JournalError> {
        let Some(work) = self.work.take() else { return Ok(()) };
        let done = work(connection, holder);
        let failed = match &done {
            Err(error @ JournalError::Storage(_)) => Err(error.clone()),
            _ => Ok(()),
        };
        self.done = Some(done);
        failed
    }

    fn reply(&mut self, committed: Result<(), JournalError>) {
        let Some(reply) = self.reply.take() else { return };
        let answer = match committed {
            Err(error) => Err(error),
            Ok(()) => {
                self.done.take().or_else(|| self.missing.take().map(Ok)).unwrap_or_else(|| Err(ended()))
            }
        };
        // Whoever asked may not wait for the answer.
        let _ = reply.send(answer);
    }
}
