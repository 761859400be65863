//! The thread that commits. Operations that come in while it waits for the disk share the next commit, so that many runs at
//! once cost little more than one.

use std::{
    io,
    path::PathBuf,
    sync::mpsc,
    thread::{self, JoinHandle},
};

use loggia_gate::journal::{JournalError, RetentionLimits};
use rusqlite::{Connection, TransactionBehavior};

use crate::{holder::HolderLock, record::storage, retention, tables};

/// Operations of one commit.
const BATCH: usize = 256;
/// Finished runs after which old ones are removed.
const SWEEP_EVERY: usize = 64;

/// An operation on the tables.
pub(crate) trait CommitWork: Send {
    /// Runs it. An error fails the whole commit.
    fn run(&mut self, connection: &Connection, holder: &HolderLock) -> Result<(), JournalError>;
    /// Answers it, once the commit has succeeded or failed.
    fn reply(&mut self, committed: Result<(), JournalError>);
}

/// A queued operation.
struct QueuedWork {
    /// Whether it creates the file if that is missing.
    needs_file: bool,
    work: Box<dyn CommitWork>,
}

/// Queue of the thread. Dropping it waits until the queue is empty and the thread has ended.
pub(crate) struct CommitQueue {
    /// `None` only while it is dropped.
    sender: Option<mpsc::Sender<QueuedWork>>,
    thread: Option<JoinHandle<()>>,
}

impl CommitQueue {
    /// Starts the thread.
    pub(crate) fn start(mut database: RunDatabase) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel::<QueuedWork>();
        let thread = thread::Builder::new().name("loggia-journal".into()).spawn(move || {
            while let Ok(first) = receiver.recv() {
                let mut batch = vec![first];
                batch.extend(receiver.try_iter().take(BATCH - 1));
                database.commit(batch);
            }
        })?;
        Ok(Self { sender: Some(sender), thread: Some(thread) })
    }

    /// Queues an operation. Fails if the thread has ended.
    pub(crate) fn push(&self, needs_file: bool, work: Box<dyn CommitWork>) -> Result<(), ()> {
        let sender = self.sender.as_ref().ok_or(())?;
        sender.send(QueuedWork { needs_file, work }).map_err(|_| ())
    }
}

impl Drop for CommitQueue {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // It only fails if the thread panicked, which it has reported.
            let _ = thread.join();
        }
    }
}

/// The file, as its thread uses it.
pub(crate) struct RunDatabase {
    pub path: PathBuf,
    pub connection: Option<Connection>,
    pub holder: HolderLock,
    pub limits: RetentionLimits,
    /// Commits since old runs were removed.
    pub finished: usize,
}

impl RunDatabase {
    fn commit(&mut self, mut batch: Vec<QueuedWork>) {
        let committed = match self.connect(batch.iter().any(|queued| queued.needs_file)) {
            Err(error) => Err(error),
            // Without a file, there is nothing to read.
            Ok(false) => Ok(()),
            Ok(true) => self.run(&mut batch),
        };
        if committed.is_err() {
            // Whoever asked reports it. The file is opened again, as it may be repaired meanwhile.
            self.connection = None;
        }
        batch.iter_mut().for_each(|queued| queued.work.reply(committed.clone()));
        self.sweep();
    }

    /// Opens the file, if it exists or is to be created. Returns whether it is open.
    fn connect(&mut self, create: bool) -> Result<bool, JournalError> {
        if self.connection.is_none() && (create || self.path.exists()) {
            self.connection = Some(tables::open(&self.path)?);
        }
        Ok(self.connection.is_some())
    }

    fn run(&mut self, batch: &mut [QueuedWork]) -> Result<(), JournalError> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(storage)?;
        for queued in batch {
            queued.work.run(&transaction, &self.holder)?;
        }
        transaction.commit().map_err(storage)
    }

    /// Removes old runs now and then, while nobody waits.
    fn sweep(&mut self) {
        self.finished += 1;
        if self.finished < SWEEP_EVERY {
            return;
        }
        self.finished = 0;
        if let Some(connection) = &mut self.connection
            && let Err(error) = retention::sweep(connection, self.limits)
        {
            tracing::warn!("failed to remove old runs from the journal: {error}");
        }
    }
}
