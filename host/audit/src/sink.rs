//! The thread that writes, so that a slow disk delays no call, and what happens on a full disk.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError},
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

enum SinkMessage {
    Line(String),
    Close,
}

/// The open audit file with its thread.
pub struct AuditSink {
    sender: SyncSender<SinkMessage>,
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
        let (sender, receiver) = mpsc::sync_channel(QUEUED);
        let mut work = SinkWork { writer, full, health: Arc::clone(&health), reported: 0 };
        let spawned = thread::Builder::new().name("loggia-audit".into()).spawn(move || work.run(&receiver));
        let thread = spawned.map_err(|error| TrailError::Io(path.clone(), error))?;
        Ok(Self { sender, thread: Mutex::new(Some(thread)), health, path, full })
    }

    /// Returns a function that queues lines: JSON objects. A line that finds no room is lost and counted.
    pub fn queue(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let (sender, health) = (self.sender.clone(), Arc::clone(&self.health));
        move |line: &str| {
            if let Err(TrySendError::Full(_)) = sender.try_send(SinkMessage::Line(line.to_owned())) {
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
    fn run(&mut self, lines: &Receiver<SinkMessage>) {
        let mut signed = Instant::now();
        loop {
            let wait = CHECKPOINT_PERIOD.saturating_sub(signed.elapsed());
            match lines.recv_timeout(wait) {
                Ok(SinkMessage::Line(line)) => self.write(&line),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(SinkMessage::Close) | Err(RecvTimeoutError::Disconnected) => break,
            }
            if signed.elapsed() >= CHECKPOINT_PERIOD {
                self.sign();
                signed = Instant::now();
            }
        }
        self.sign();
    }

    /// Writes a line. If that fails, it is lost, or tried again for as long as calls are refused.
    fn write(&mut self, line: &str) {
        loop {
            let written = self.report_lost().and_then(|()| self.writer.write(line));
            self.note(&written);
            match (written, self.full) {
                (Ok(()), _) => return,
                (Err(_), FullDisk::Refuse) => thread::sleep(RETRY),
                (Err(_), FullDisk::Drop) => {
                    self.health.lost.fetch_add(1, Ordering::Relaxed);
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
            self.writer.write(&gap.to_string())?;
            self.reported = lost;
        }
        Ok(())
    }

    fn sign(&mut self) {
        if self.writer.unsigned > 0 {
            let signed = self.writer.sign();
            self.note(&signed);
        }
    }

    fn note(&self, written: &io::Result<()>) {
        let failed = written.is_err();
        if self.health.failing.swap(failed, Ordering::Relaxed) != failed {
            let path = self.writer.path().display();
            match (written, self.full) {
                (Ok(()), _) => tracing::info!("the audit file {path} can be written again"),
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
            let mut close = self.sender.try_send(SinkMessage::Close);
            // Without room for the message, the thread is behind.
            while let (Err(TrySendError::Full(message)), true) = (close, Instant::now() < deadline) {
                thread::sleep(Duration::from_millis(1));
                close = self.sender.try_send(message);
            }
            while !thread.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
