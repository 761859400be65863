//! The journal that the host supplies.

use std::time::Duration;

use futures_util::{FutureExt, future::BoxFuture};

/// Result of an operation on a journal.
pub type JournalFuture<T> = BoxFuture<'static, Result<T, JournalError>>;

/// Durable record of runs, which several hosts may share.
///
/// Operations take effect in the order in which they are called: each is on its way when its function returns, and its future
/// need not be awaited. What is recorded of a run is recorded by one host, the holder of its lease.
pub trait Journal: Send + Sync + 'static {
    /// Records a new run, leased to this host with a fence of 1.
    fn create(&self, run: NewRun) -> JournalFuture<()>;

    /// Appends entries to a run; `first` is the number of entries before them. They are durable once the future resolves.
    /// Without entries, it only waits for those before.
    ///
    /// Fails with [`JournalError::Lost`] if the run was not created or has ended, another host holds the lease, or entries are
    /// missing before these.
    fn append(&self, lease: RunLease, first: u64, entries: Vec<Vec<u8>>) -> JournalFuture<()>;

    /// Ends a run with its outcome. Fails like [`append`](Self::append).
    fn finish(&self, lease: RunLease, outcome: Vec<u8>) -> JournalFuture<()>;

    /// Claims unfinished runs of these facades whose host has ended, at most so many. Their fences grow, so that a former
    /// holder that still runs can record nothing.
    fn claim(&self, facades: Vec<String>, most: usize) -> JournalFuture<Vec<ClaimedRun>>;

    /// Gives a claimed run back, so that it can be claimed again.
    fn release(&self, lease: RunLease) -> JournalFuture<()>;

    /// Loads a run.
    fn load(&self, run: String) -> JournalFuture<Option<StoredRun>>;

    /// Loads the entries of a run.
    fn history(&self, run: String) -> JournalFuture<Vec<Vec<u8>>>;

    /// Records a run with entries, leased to no host: the next that looks for unfinished runs claims it. Does nothing if a run
    /// with this handle is recorded.
    fn add(&self, run: NewRun, entries: Vec<Vec<u8>>) -> JournalFuture<()>;

    /// Asks the host of an unfinished run to cancel it. Returns false if there is none.
    fn request_cancel(&self, run: String) -> JournalFuture<bool>;

    /// Lists this host's unfinished runs that are to be cancelled.
    fn cancel_requests(&self) -> JournalFuture<Vec<String>>;

    /// Finds out which host has an unfinished run. Hosts without addresses are unknown.
    fn holder(&self, run: String) -> JournalFuture<RunHolder> {
        drop(run);
        futures_util::future::ready(Ok(RunHolder::Unknown)).boxed()
    }

    /// Lists runs, newest first, at most so many: those of a facade, or all.
    fn list(&self, facade: Option<String>, most: usize) -> JournalFuture<Vec<StoredRun>>;
}

/// The host that has an unfinished run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunHolder {
    /// There is no such run, it has ended, or its host has no address.
    Unknown,
    /// Its host has ended. Another one claims it soon.
    Unclaimed,
    /// The host with this address.
    Host(String),
}

/// A run to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Unguessable handle.
    pub id: String,
    /// Facade.
    pub facade: String,
    /// Action.
    pub action: String,
    /// Caller and parameters, which only the gate reads.
    pub head: Vec<u8>,
    /// Start time, in milliseconds since 1970.
    pub began_ms: u64,
}

/// The right to record a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLease {
    /// Handle of the run.
    pub run: String,
    /// Number of times that it was claimed. A lower one is no longer valid.
    pub fence: u64,
}

/// A run that this host has claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedRun {
    /// The lease.
    pub lease: RunLease,
    /// Caller and parameters.
    pub head: Vec<u8>,
    /// Entries so far.
    pub entries: Vec<Vec<u8>>,
}

/// A run as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun {
    /// The run.
    pub run: NewRun,
    /// Number of entries.
    pub entries: u64,
    /// End time in milliseconds since 1970, and outcome, if it has ended.
    pub end: Option<(u64, Vec<u8>)>,
}

/// Limits of what is kept of ended runs. Unfinished runs are always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimits {
    /// Time since their end.
    pub age: Duration,
    /// Bytes of all of them: calls, entries and outcomes.
    pub bytes: u64,
}

impl Default for RetentionLimits {
    fn default() -> Self {
        Self { age: Duration::from_secs(7 * 24 * 3600), bytes: 256 << 20 }
    }
}

/// Error of a journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// This host may not record the run: another one holds its lease, or earlier entries are missing.
    #[error("another host has taken over the run, or its journal has a gap")]
    Lost,
    /// The journal cannot be read or written.
    #[error("the journal of runs cannot be used: {0}")]
    Storage(String),
}
