//! Records one run.

use std::{
    mem::take,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{CallJournal, EntrySource, Envelope, Failure, JournalWriter};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    end::RunEnd,
    port::{Journal, JournalError, JournalFuture, NewRun, RunLease},
    scope::{CallScope, RunHistory},
};
use crate::failures;

/// Bytes of entries that are kept in memory. More are written, though nothing depends on them yet.
const MAX_BUFFERED: usize = 256 << 10;
/// Bytes of a trace that are recorded while its run goes on. Its end records the latest lines in any case.
const MAX_TRACED: usize = 64 << 10;
/// Shortest time between two writes of a trace.
const TRACE_PERIOD: Duration = Duration::from_secs(1);

/// Recorder of one run.
pub(crate) struct RunRecorder {
    journal: Arc<dyn Journal>,
    lease: RunLease,
    /// True if the facade appends the entries, and the run goes on after a restart. Otherwise they are lines of its trace.
    resumes: bool,
    /// True if a restart leads to the same call again. The entries are lines of its trace, too.
    repeats: bool,
    /// Set when the facade gets the call.
    has_begun: AtomicBool,
    /// Set at shutdown: then a run is left to the next start, and not cancelled.
    draining: Arc<AtomicBool>,
    /// What is not written yet. Held to add and to take entries, and to pass them to the journal, which only queues them: so
    /// they reach it in their order. No other lock is taken under it.
    buffer: Mutex<EntryBuffer>,
}

/// Makes the record of a run.
pub(crate) type RunSource = Box<dyn FnOnce() -> NewRun + Send>;

/// What is not written yet.
struct EntryBuffer {
    /// The run itself, until it is created.
    new: Option<RunSource>,
    entries: Vec<BufferedEntry>,
    /// Bytes of the entries that are made.
    bytes: usize,
    /// Number of entries that were written.
    written: u64,
    /// Entries of earlier processes, until the facade takes them.
    history: RunHistory,
    is_finished: bool,
    /// Bytes of the trace that were recorded.
    traced: usize,
    /// Time of the last flush.
    flushed: Instant,
}

/// An entry that is not written yet.
enum BufferedEntry {
    Made(Vec<u8>),
    Later(EntrySource),
}

impl BufferedEntry {
    fn make(self) -> Vec<u8> {
        match self {
            Self::Made(entry) => entry,
            Self::Later(source) => source(),
        }
    }

    fn marked(self, scope: CallScope) -> Self {
        match self {
            Self::Made(entry) => Self::Made(scope.mark(&entry)),
            Self::Later(source) => Self::Later(Box::new(move || scope.mark(&source()))),
        }
    }
}

impl RunRecorder {
    /// Creates a recorder of a durable run that is new. Nothing is written before [`persist`](Self::persist), or before the
    /// facade awaits an entry.
    pub(crate) fn new(
        journal: Arc<dyn Journal>,
        id: String,
        run: RunSource,
        draining: Arc<AtomicBool>,
    ) -> Self {
        let lease = RunLease { run: id, fence: 1 };
        Self::with_state(journal, lease, draining, Some(run), Vec::new())
    }

    /// Creates a recorder of a run that a restart ends.
    pub(crate) fn kept(journal: Arc<dyn Journal>, run: NewRun, draining: Arc<AtomicBool>) -> Self {
        Self { resumes: false, ..Self::new(journal, run.id.clone(), Box::new(|| run), draining) }
    }

    /// Creates a recorder of a run whose call is made again after a restart.
    pub(crate) fn repeated(journal: Arc<dyn Journal>, run: NewRun, draining: Arc<AtomicBool>) -> Self {
        Self { repeats: true, ..Self::kept(journal, run, draining) }
    }

    /// Lets a claimed run be one whose call is made again.
    pub(crate) fn into_repeated(self) -> Self {
        Self { resumes: false, repeats: true, ..self }
    }

    /// Creates a recorder of a run that was claimed, with its entries so far.
    pub(crate) fn claimed(
        journal: Arc<dyn Journal>,
        lease: RunLease,
        history: Vec<Vec<u8>>,
        draining: Arc<AtomicBool>,
    ) -> Self {
        Self::with_state(journal, lease, draining, None, history)
    }

    fn with_state(
        journal: Arc<dyn Journal>,
        lease: RunLease,
        draining: Arc<AtomicBool>,
        new: Option<RunSource>,
        history: Vec<Vec<u8>>,
    ) -> Self {
        let written = history.len() as u64;
        let buffer = EntryBuffer {
            new,
            entries: Vec::new(),
            bytes: 0,
            written,
            history: RunHistory::from_entries(history),
            is_finished: false,
            traced: 0,
            flushed: Instant::now(),
        };
        let has_begun = AtomicBool::new(false);
        Self {
            journal,
            lease,
            resumes: true,
            repeats: false,
            has_begun,
            draining,
            buffer: Mutex::new(buffer),
        }
    }

    /// Handle of the run.
    pub(crate) fn run(&self) -> &str {
        &self.lease.run
    }

    /// Whether the run goes on after a restart.
    pub(crate) fn resumes(&self) -> bool {
        self.resumes
    }

    /// Whether the host is shutting down, so that the run is left to the next start.
    pub(crate) fn is_draining(&self) -> bool {
        (self.resumes || self.repeats) && self.draining.load(Ordering::Relaxed)
    }

    /// Records a line of the trace, if that is what the entries are. At most once a second, it is on its way to the disk.
    pub(crate) fn trace(&self, line: impl FnOnce() -> Value) {
        if self.resumes {
            return;
        }
        let mut buffer = self.lock();
        if buffer.is_finished || buffer.traced >= MAX_TRACED {
            return;
        }
        let line = line().to_string().into_bytes();
        buffer.traced += line.len();
        buffer.entries.push(BufferedEntry::Made(line));
        if buffer.flushed.elapsed() >= TRACE_PERIOD {
            drop(self.flush(&mut buffer));
        }
    }

    /// Returns the journal for the facade. `None` after the first time: a call that follows another is not recorded.
    pub(crate) fn take_journal(self: &Arc<Self>) -> Option<CallJournal> {
        let history = self.lock().history.own.take()?;
        Some(CallJournal { history, writer: Arc::new(RunWriter { recorder: Arc::clone(self), scope: None }) })
    }

    /// Returns the journal for a durable facade that a call within the run reaches, by the call's idempotency key.
    pub(crate) fn take_nested_journal(self: &Arc<Self>, key: &str) -> CallJournal {
        let (scope, history) = self.lock().history.take_nested(key);
        let writer = RunWriter { recorder: Arc::clone(self), scope: Some(scope) };
        CallJournal { history, writer: Arc::new(writer) }
    }

    /// Notes that the facade gets the call.
    pub(crate) fn note_begun(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Whether the facade has got the call.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Writes what is not written yet. The future need not be awaited.
    pub(crate) fn persist(&self) -> JournalFuture<()> {
        let mut buffer = self.lock();
        if buffer.is_finished {
            return futures_util::future::ready(Ok(())).boxed();
        }
        self.flush(&mut buffer)
    }

    /// Records the outcome, unless nothing is recorded of the run, or its outcome is.
    pub(crate) fn finish(&self, envelope: &Envelope, trace: Value) -> JournalFuture<()> {
        let mut buffer = self.lock();
        if buffer.is_finished || buffer.new.is_some() {
            buffer.is_finished = true;
            return futures_util::future::ready(Ok(())).boxed();
        }
        buffer.is_finished = true;
        // The order of operations is kept, and a failure of this one fails the next.
        drop(self.flush(&mut buffer));
        self.finish_again(envelope, trace)
    }

    /// Records the outcome after an attempt that failed.
    pub(crate) fn finish_again(&self, envelope: &Envelope, trace: Value) -> JournalFuture<()> {
        let end = RunEnd { envelope: envelope.clone(), trace };
        self.journal.finish(self.lease.clone(), end.to_bytes())
    }

    fn flush(&self, buffer: &mut EntryBuffer) -> JournalFuture<()> {
        if let Some(run) = buffer.new.take() {
            drop(self.journal.create(run()));
        }
        let (entries, first) = (take(&mut buffer.entries), buffer.written);
        let entries: Vec<Vec<u8>> = entries.into_iter().map(BufferedEntry::make).collect();
        buffer.bytes = 0;
        buffer.flushed = Instant::now();
        buffer.written += entries.len() as u64;
        self.journal.append(self.lease.clone(), first, entries)
    }

    fn push(&self, entry: BufferedEntry) {
        let mut buffer = self.lock();
        if let BufferedEntry::Made(bytes) = &entry {
            buffer.bytes += bytes.len();
        }
        buffer.entries.push(entry);
        if buffer.bytes > MAX_BUFFERED {
            drop(self.flush(&mut buffer));
        }
    }

    fn lock(&self) -> MutexGuard<'_, EntryBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writer that the facade is given.
struct RunWriter {
    recorder: Arc<RunRecorder>,
    /// `None` for the call of the run itself.
    scope: Option<CallScope>,
}

impl RunWriter {
    fn push(&self, entry: BufferedEntry) -> BoxFuture<'static, Result<(), Failure>> {
        self.recorder.push(match self.scope.clone() {
            None => entry,
            Some(scope) => entry.marked(scope),
        });
        let recorder = Arc::clone(&self.recorder);
        async move { recorder.persist().await.map_err(to_failure) }.boxed()
    }
}

impl JournalWriter for RunWriter {
    fn append(&self, entry: Vec<u8>) -> BoxFuture<'static, Result<(), Failure>> {
        self.push(BufferedEntry::Made(entry))
    }

    fn append_later(&self, entry: EntrySource) -> BoxFuture<'static, Result<(), Failure>> {
        self.push(BufferedEntry::Later(entry))
    }
}

/// Converts an error for the caller, who does not learn the host's paths.
fn to_failure(error: JournalError) -> Failure {
    tracing::error!("a run stops: {error}");
    failures::unavailable(match error {
        JournalError::Lost => "another host has taken over the run",
        JournalError::Storage(_) => "the host cannot record the run, so it was stopped",
    })
}
