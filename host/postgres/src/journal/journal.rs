//! The adapter of the gate's port.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError, mpsc as blocking},
    thread::{self, JoinHandle},
    time::Duration,
};

use futures_util::{FutureExt, future, future::BoxFuture};
use loggia_gate::journal::{
    ClaimedRun, Journal, JournalError, JournalFuture, NewRun, RunHolder, RunLease, StoredRun,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout},
};
use tokio_postgres::Error;

use super::{
    committer::{RunCommitter, RunWork},
    lease::{HostLabel, HostLease},
    options::JournalOptions,
    retention,
    session::{RunResult, RunSession},
    work::{self, RunAttempt},
};
use crate::{access::DatabaseAccess, error::PostgresError};

/// Operations of one transaction.
const BATCH: usize = 256;
/// Bytes of the operations of one transaction. At least one is in it.
const BATCH_BYTES: usize = 4 << 20;
/// Time for giving the lease up at the end.
const FAREWELL: Duration = Duration::from_secs(2);

/// Journal in PostgreSQL. A thread of its own runs the transactions; dropping it waits until the queue is empty, and gives
/// this host's lease up.
pub struct PostgresJournal {
    /// `None` once it is closed. Locked to queue an operation, and to close it.
    queue: Mutex<Option<mpsc::UnboundedSender<Box<dyn RunWork>>>>,
    /// `None` once it is closed. Locked until the thread has ended.
    thread: Mutex<Option<JoinHandle<()>>>,
    patience: Duration,
    /// Id of this host.
    host: String,
}

impl PostgresJournal {
    /// Connects, creates or upgrades the tables, and takes a lease for this host.
    ///
    /// # Errors
    ///
    /// [`PostgresError`]: the server cannot be reached or refuses the login, the schema cannot be created or is newer; or no
    /// thread can be started.
    pub fn open(access: DatabaseAccess, options: JournalOptions) -> Result<Self, PostgresError> {
        Self::open_as(access, options, HostLabel::default())
    }

    /// Like [`open`](Self::open), under a name that operators know.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_as(
        access: DatabaseAccess,
        options: JournalOptions,
        label: HostLabel,
    ) -> Result<Self, PostgresError> {
        let failed = |error: io::Error| PostgresError::Settings(format!("the journal cannot start: {error}"));
        let lease = HostLease::new(&options, label).map_err(failed)?;
        let host = lease.host.clone();
        let (queue, receiver) = mpsc::unbounded_channel();
        let (ready, opened) = blocking::channel();
        let thread = thread::Builder::new().name("loggia-journal".into()).spawn(move || {
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(serve(access, options, lease, receiver, ready)),
                Err(error) => drop(ready.send(Err(failed(error)))),
            }
        });
        let thread = thread.map_err(failed)?;
        let stopped = || PostgresError::Settings("the journal's thread has ended".to_owned());
        opened.recv().map_err(|_| stopped())??;
        let (queue, thread) = (Mutex::new(Some(queue)), Mutex::new(Some(thread)));
        Ok(Self { queue, thread, patience: options.patience, host })
    }

    /// Id of this host, by which others reach it.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Waits until the queue is empty, and gives this host's lease up. Later operations fail. For a host that ends while others
    /// still hold the journal.
    pub fn close(&self) {
        *self.queue.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It only fails if the thread panicked, which it has reported.
            let _ = thread.join();
        }
    }

    /// Queues an operation.
    pub(super) fn run<T, W>(&self, weight: usize, work: W) -> JournalFuture<T>
    where
        T: Send + 'static,
        W: Fn(Arc<RunSession>, RunAttempt) -> BoxFuture<'static, RunResult<T>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let deadline = Instant::now() + self.patience;
        let work: Box<dyn RunWork> = Box::new(RunOperation { work, deadline, weight, done: None, reply });
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.as_ref().is_none_or(|queue| queue.send(work).is_err()) {
            return future::ready(Err(ended())).boxed();
        }
        async move { answer.await.unwrap_or_else(|_| Err(ended())) }.boxed()
    }
}

impl Drop for PostgresJournal {
    fn drop(&mut self) {
        self.close();
    }
}

fn ended() -> JournalError {
    JournalError::Storage("its thread has ended".to_owned())
}

/// Creates a mark by which an operation recognises what an earlier attempt of it has done.
pub(super) fn random_mark() -> Result<String, JournalError> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|error| JournalError::Storage(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bits)))
}

/// Runs the operations of a queue until it is closed and empty.
async fn serve(
    access: DatabaseAccess,
    options: JournalOptions,
    lease: HostLease,
    mut queue: mpsc::UnboundedReceiver<Box<dyn RunWork>>,
    ready: blocking::Sender<Result<(), PostgresError>>,
) {
    let connected = match timeout(options.patience, RunSession::connect(&access, &lease)).await {
        Ok(connected) => connected,
        Err(_) => Err(access.unreachable("it does not answer")),
    };
    let session = match connected {
        Ok(session) => Some(Arc::new(session)),
        Err(error) => return drop(ready.send(Err(error))),
    };
    if ready.send(Ok(())).is_err() {
        return;
    }
    let renewal = tokio::spawn(lease.clone().keep(access.clone()));
    let sweeping = tokio::spawn(retention::sweep_regularly(access.clone(), options));
    let mut committer = RunCommitter { access: access.clone(), lease: lease.clone(), session };
    while let Some(first) = queue.recv().await {
        let mut weight = first.weight();
        let mut batch = vec![first];
        while batch.len() < BATCH && weight < BATCH_BYTES {
            let Ok(next) = queue.try_recv() else { break };
            weight += next.weight();
            batch.push(next);
        }
        committer.commit(batch).await;
    }
    sweeping.abort();
    // A renewal that is under way would take the lease again.
    renewal.abort();
    let _ = renewal.await;
    if let Ok(Err(error)) = timeout(FAREWELL, lease.give_up(&access)).await {
        tracing::warn!("others take up the runs of this host only once its lease is over: {error}");
    }
}

/// One operation: its result is kept until the commit.
struct RunOperation<T, W> {
    work: W,
    deadline: Instant,
    weight: usize,
    done: Option<Result<T, JournalError>>,
    reply: oneshot::Sender<Result<T, JournalError>>,
}

impl<T, W> RunWork for RunOperation<T, W>
where
    T: Send + 'static,
    W: Fn(Arc<RunSession>, RunAttempt) -> BoxFuture<'static, RunResult<T>> + Send,
{
    fn run(&mut self, session: Arc<RunSession>, attempt: RunAttempt) -> BoxFuture<'_, Result<(), Error>> {
        let working = (self.work)(session, attempt);
        let done = &mut self.done;
        async move {
            *done = Some(working.await?);
            Ok(())
        }
        .boxed()
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn weight(&self) -> usize {
        self.weight
    }

    fn reply(self: Box<Self>, committed: Result<(), JournalError>) {
        let Self { done, reply, .. } = *self;
        // Whoever asked may not wait for the answer.
        let _ = reply.send(committed.and_then(|()| done.unwrap_or_else(|| Err(ended()))));
    }
}

/// Bytes of entries.
fn size(entries: &[Vec<u8>]) -> usize {
    entries.iter().map(Vec::len).sum()
}

/// Makes the future of an operation; its arguments are shared by the attempts.
macro_rules! operation {
    ($shared:expr, |$session:ident, $attempt:ident, $args:pat_param| $work:expr) => {{
        let shared = Arc::new($shared);
        move |$session: Arc<RunSession>, $attempt: RunAttempt| {
            let shared = Arc::clone(&shared);
            async move {
                let $args = &*shared;
                $work.await
            }
            .boxed()
        }
    }};
}

pub(super) use operation;

impl Journal for PostgresJournal {
    fn create(&self, run: NewRun) -> JournalFuture<()> {
        self.run(
            run.head.len(),
            operation!((run, Vec::new()), |session, attempt, (run, none)| {
                work::create(&session, attempt, Some(&session.host), run, none)
            }),
        )
    }

    fn append(&self, lease: RunLease, first: u64, entries: Vec<Vec<u8>>) -> JournalFuture<()> {
        self.run(
            size(&entries),
            operation!((lease, entries), |session, attempt, (lease, entries)| {
                work::append(&session, attempt, lease, first, entries)
            }),
        )
    }

    fn finish(&self, lease: RunLease, outcome: Vec<u8>) -> JournalFuture<()> {
        self.run(
            outcome.len(),
            operation!((lease, outcome), |session, attempt, (lease, outcome)| {
                work::finish(&session, attempt, lease, outcome)
            }),
        )
    }

    fn claim(&self, facades: Vec<String>, most: usize) -> JournalFuture<Vec<ClaimedRun>> {
        let claim = match random_mark() {
            Ok(claim) => claim,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        self.run(
            0,
            operation!((facades, claim), |session, _attempt, (facades, claim)| {
                work::claim(&session, facades, most, claim)
            }),
        )
    }

    fn release(&self, lease: RunLease) -> JournalFuture<()> {
        self.run(0, operation!(lease, |session, attempt, lease| work::release(&session, attempt, lease)))
    }

    fn load(&self, run: String) -> JournalFuture<Option<StoredRun>> {
        self.run(0, operation!(run, |session, _attempt, run| work::load(&session, run)))
    }

    fn history(&self, run: String) -> JournalFuture<Vec<Vec<u8>>> {
        self.run(0, operation!(run, |session, _attempt, run| work::history(&session, run)))
    }

    fn add(&self, run: NewRun, entries: Vec<Vec<u8>>) -> JournalFuture<()> {
        self.run(
            size(&entries),
            operation!((run, entries), |session, attempt, (run, entries)| {
                work::create(&session, attempt, None, run, entries)
            }),
        )
    }

    fn request_cancel(&self, run: String) -> JournalFuture<bool> {
        self.run(0, operation!(run, |session, _attempt, run| work::request_cancel(&session, run)))
    }

    fn holder(&self, run: String) -> JournalFuture<RunHolder> {
        self.run(0, operation!(run, |session, _attempt, run| work::holder(&session, run)))
    }

    fn cancel_requests(&self) -> JournalFuture<Vec<String>> {
        self.run(0, operation!((), |session, _attempt, ()| work::cancel_requests(&session)))
    }

    fn list(&self, facade: Option<String>, most: usize) -> JournalFuture<Vec<StoredRun>> {
        self.run(
            0,
            operation!(facade, |session, _attempt, facade| work::list(&session, facade.as_deref(), most)),
        )
    }
}
