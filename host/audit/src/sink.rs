//! The thread that writes, so that a slow disk delays no call, and what happens on a full disk.

use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    files::TrailError,
    writer::{ChainWriter, TrailOptions, now},
};

/// Lines in the queue of the thread, of some 400 bytes each.
const QUEUED: usize = 16_384;
/// Lines that are written together, and, on a full disk, lost together.
const BATCH: usize = 64;
/// Time after which the thread looks for further lines, and how often before it sleeps.
const LOOK: Duration = Duration::from_millis(1);
const LINGER: u32 = 100;
/// Longest time between two checkpoints while lines are written.
const CHECKPOINT_PERIOD: Duration = Duration::from_secs(60);
/// Time after which a failed write is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// What happens while lines cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullDisk {
    /// They are dropped and counted, and calls go on.
    Drop,
    /// Calls are refused until they can be written.
    Refuse,
}

/// State of a sink.
#[derive(Debug, Default)]
pub struct SinkHealth {
    lost: AtomicUsize,
    failing: Arc<AtomicBool>,
}

impl SinkHealth {
    /// Lines that were lost.
    pub fn lost(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }

    /// Set while lines cannot be written.
    pub fn failing(&self) -> &Arc<AtomicBool> {
        &self.failing
    }

    /// True while lines cannot be written.
    pub fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }
}

/// Makes a line: a JSON object. `None` if there is none to write.
pub type LineMaker = Box<dyn FnOnce() -> Option<String> + Send>;

/// Lines on their way to the thread.
#[derive(Default)]
struct LineQueue {
    state: Mutex<QueueState>,
    /// Wakes the thread while it sleeps.
    wake: Condvar,
}

/// Locked for a moment by each line, and by the thread to take all of them.
#[derive(Default)]
struct QueueState {
    lines: VecDeque<LineMaker>,
    /// Set while the thread waits to be woken. While lines come, it looks for them by itself, so that no call wakes it: that would take
    /// longer than all else.
    sleeps: bool,
    closed: bool,
}

impl LineQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line; false if there is no room.
    fn push(&self, line: LineMaker) -> bool {
        let mut state = self.lock();
        if state.lines.len() >= QUEUED {
            return false;
        }
        state.lines.push_back(line);
        if std::mem::take(&mut state.sleeps) {
            self.wake.notify_one();
        }
        true
    }

    fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    /// Sleeps until there is a line, the queue is closed, or this time has passed.
    fn sleep(&self, most: Duration) {
        let mut state = self.lock();
        state.sleeps = state.lines.is_empty() && !state.closed;
        if state.sleeps {
            let waited = self.wake.wait_timeout(state, most);
            waited.unwrap_or_else(PoisonError::into_inner).0.sleeps = false;
        }
    }
}

/// The open audit file with its thread.
pub struct AuditSink {
    queue: Arc<LineQueue>,
    /// `None` once it is closed. Locked to close it.
    thread: Mutex<Option<JoinHandle<()>>>,
    health: Arc<SinkHealth>,
    path: PathBuf,
    full: FullDisk,
}

impl AuditSink {
    /// Opens the file, and starts its thread.
    ///
    /// # Errors
    ///
    /// If the file or the key cannot be used.
    pub fn open(options: &TrailOptions, full: FullDisk) -> Result<Self, TrailError> {
        let writer = ChainWriter::open(options)?;
        let path = writer.path().to_owned();
        let health = Arc::<SinkHealth>::default();
        let queue = Arc::<LineQueue>::default();
        let lines = Arc::clone(&queue);
        let mut work = SinkWork { writer, full, health: Arc::clone(&health), reported: 0 };
        let spawned = thread::Builder::new().name("loggia-audit".into()).spawn(move || work.run(&lines));
        let thread = spawned.map_err(|error| TrailError::Io(path.clone(), error))?;
        Ok(Self { queue, thread: Mutex::new(Some(thread)), health, path, full })
    }

    /// Returns a function that queues lines, which the thread of the sink makes. A line that finds no room is lost and counted.
    pub fn queue(&self) -> impl Fn(LineMaker) + Send + Sync + use<> {
        let (queue, health) = (Arc::clone(&self.queue), Arc::clone(&self.health));
        move |line| {
            if !queue.push(line) {
                health.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// State of the sink.
    pub fn health(&self) -> &Arc<SinkHealth> {
        &self.health
    }

    /// The file.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// What happens while lines cannot be written.
    pub fn full_disk(&self) -> FullDisk {
        self.full
    }
}

/// What the thread works on.
struct SinkWork {
    writer: ChainWriter,
    full: FullDisk,
    health: Arc<SinkHealth>,
    /// Lost lines that the file reports already.
    reported: usize,
}

impl SinkWork {
    fn run(&mut self, queue: &LineQueue) {
        let (mut signed, mut idle) = (Instant::now(), 0);
        loop {
            let (lines, closed) = {
                let mut state = queue.lock();
                (std::mem::take(&mut state.lines), state.closed)
            };
            if lines.is_empty() {
                if closed {
                    break;
                }
                // A failure is tried again soon: calls may be refused until it is over.
                let is_failing = self.health.is_failing();
                let wait =
                    if is_failing { RETRY } else { CHECKPOINT_PERIOD.saturating_sub(signed.elapsed()) };
                if idle < LINGER {
                    idle += 1;
                    thread::sleep(LOOK);
                } else {
                    queue.sleep(wait);
                    if is_failing && queue.lock().lines.is_empty() {
                        self.sign();
                    }
                }
            } else {
                idle = 0;
                let mut lines = lines.into_iter().filter_map(|make| make()).peekable();
                while lines.peek().is_some() {
                    self.write(&lines.by_ref().take(BATCH).collect::<Vec<_>>());
                }
            }
            if signed.elapsed() >= CHECKPOINT_PERIOD {
                self.sign_new();
                signed = Instant::now();
            }
        }
        self.sign_new();
    }

    /// Writes lines. If that fails, they are lost, or tried again for as long as calls are refused.
    fn write(&mut self, mut lines: &[String]) {
        while !lines.is_empty() {
            let written = self.report_lost().and_then(|()| self.writer.write(lines));
            self.note(&written);
            match (written, self.full) {
                (Ok(count), _) => lines = &lines[count..],
                (Err(_), FullDisk::Refuse) => thread::sleep(RETRY),
                (Err(_), FullDisk::Drop) => {
                    self.health.lost.fetch_add(lines.len(), Ordering::Relaxed);
                    return;
                }
            }
        }
    }

    /// Reports lost lines in a line of its own.
    fn report_lost(&mut self) -> io::Result<()> {
        let lost = self.health.lost();
        if lost > self.reported {
            let gap = json!({ "timestamp": now(), "event": "lost", "count": lost - self.reported });
            self.writer.write(&[gap.to_string()])?;
            self.reported = lost;
        }
        Ok(())
    }

    /// Writes a checkpoint, if there are lines since the last.
    fn sign_new(&mut self) {
        if self.writer.unsigned > 0 {
            self.sign();
        }
    }

    fn sign(&mut self) {
        let signed = self.writer.sign();
        self.note(&signed);
    }

    fn note<T>(&self, written: &io::Result<T>) {
        let failed = written.is_err();
        if self.health.failing.swap(failed, Ordering::Relaxed) != failed {
            let path = self.writer.path().display();
            match (written, self.full) {
                (Ok(_), _) => tracing::info!("the audit file {path} can be written again"),
                (Err(error), FullDisk::Drop) => {
                    tracing::error!("failed to write the audit file {path}: {error}; lines are lost");
                }
                (Err(error), FullDisk::Refuse) => {
                    tracing::error!(
                        "failed to write the audit file {path}: {error}; calls are refused until it can be written"
                    );
                }
            }
        }
    }
}

impl AuditSink {
    /// Writes the queued lines and a checkpoint. Waits for a slow disk, but not for a full one.
    pub fn close(&self) {
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let deadline = Instant::now() + RETRY;
            self.queue.close();
            while !thread.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
