//! The thread that writes, so that a slow disk delays no call, and what happens on a full disk.

use std::{
    io, mem,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    files::TrailError,
    queue::{CALM, CROWDED, LineKind, LinePart, LineQueue, QUEUED, QUEUED_EVENTS, QueuedLines},
    writer::{ChainWriter, TrailOptions, now},
};

/// Lines that are written together, and, on a full disk, lost together.
const BATCH: usize = 64;
/// Time after which the thread looks for further lines, and how often before it sleeps.
const LOOK: Duration = Duration::from_millis(5);
const LINGER: u32 = 20;
/// Longest time between two checkpoints while lines are written.
const CHECKPOINT_PERIOD: Duration = Duration::from_secs(60);
/// Time after which a failed write is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// What happens while lines cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullDisk {
    /// They are dropped and counted, and calls go on.
    Drop,
    /// Calls are refused until they can be written, and while the thread does not keep up.
    Refuse,
}

/// State of a sink.
#[derive(Debug, Default)]
pub struct SinkHealth {
    lost: AtomicUsize,
    failing: AtomicBool,
    /// Set by the line that makes the queue crowded, and by the thread, which also clears it. Relaxed: a call that starts at the same
    /// moment is one more in the queue.
    refusing: Arc<AtomicBool>,
}

impl SinkHealth {
    /// Lines that were lost.
    pub fn lost(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }

    /// Set while lines cannot be written, or too many wait, and calls are to be refused for that.
    pub fn refusing(&self) -> &Arc<AtomicBool> {
        &self.refusing
    }

    /// True while lines cannot be written.
    pub fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
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
        let mut work = SinkWork { writer, full, health: Arc::clone(&health), reported: 0, is_crowded: false };
        let spawned = thread::Builder::new().name("loggia-audit".into()).spawn(move || work.run(&lines));
        let thread = spawned.map_err(|error| TrailError::Io(path.clone(), error))?;
        Ok(Self { queue, thread: Mutex::new(Some(thread)), health, path, full })
    }

    /// Returns a function that queues lines: JSON objects. A line that finds no room is lost and counted.
    pub fn queue(&self, kind: LineKind) -> impl Fn(&str, Option<LinePart>) + Send + Sync + use<> {
        let (queue, health, full) = (Arc::clone(&self.queue), Arc::clone(&self.health), self.full);
        let most = match (kind, full) {
            (LineKind::Event, FullDisk::Refuse) => QUEUED_EVENTS,
            _ => QUEUED,
        };
        move |line, part| match queue.push(line, part, most) {
            None => _ = health.lost.fetch_add(1, Ordering::Relaxed),
            Some(waiting) if waiting > CROWDED && full == FullDisk::Refuse => {
                health.refusing.store(true, Ordering::Relaxed);
            }
            Some(_) => {}
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
    /// Set while calls are refused, since too many lines wait.
    is_crowded: bool,
}

impl SinkWork {
    fn run(&mut self, queue: &LineQueue) {
        let (mut signed, mut idle, mut taken) = (Instant::now(), 0, QueuedLines::default());
        loop {
            let closed = queue.take(&mut taken);
            if taken.is_empty() {
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
                    if is_failing && queue.len() == 0 {
                        self.sign();
                    }
                }
            } else {
                idle = 0;
                let lost = taken.make_parts();
                self.health.lost.fetch_add(lost, Ordering::Relaxed);
                taken.lines().chunks(BATCH).for_each(|lines| self.write(lines));
                taken.clear();
            }
            if signed.elapsed() >= CHECKPOINT_PERIOD {
                self.sign_new();
                signed = Instant::now();
            }
            self.refuse_while(queue.len() > CALM);
        }
        self.sign_new();
    }

    /// Writes lines. If that fails, they are lost, or tried again for as long as calls are refused.
    fn write(&mut self, mut lines: &[&str]) {
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

    /// Has calls refused while lines cannot be written, or are too many, if that is what happens then.
    fn refuse_while(&mut self, crowded: bool) {
        if self.full == FullDisk::Refuse {
            let is_failing = self.health.is_failing();
            let was_refusing = self.health.refusing.swap(crowded || is_failing, Ordering::Relaxed);
            // A failure is logged as such.
            let is_crowded = crowded && was_refusing && !is_failing;
            if mem::replace(&mut self.is_crowded, is_crowded) != is_crowded && is_crowded {
                tracing::warn!("more calls end than audit lines can be written: calls are refused meanwhile");
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

    fn note<T>(&mut self, written: &io::Result<T>) {
        let failed = written.is_err();
        if failed {
            self.refuse_while(true);
        }
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct Stage {
        place: tempfile::TempDir,
        sink: AuditSink,
    }

    impl Stage {
        fn new(full: FullDisk) -> Self {
            let place = tempfile::tempdir().unwrap();
            let options = TrailOptions {
                file: place.path().join("audit.jsonl"),
                state: place.path().to_owned(),
                rotate: u64::MAX,
                keep: 1,
            };
            let sink = AuditSink::open(&options, full).unwrap();
            Self { place, sink }
        }

        /// Closes the trail; returns its lines but for the checkpoints, and their numbers and hashes.
        fn close(&self) -> Vec<String> {
            self.sink.close();
            let written = std::fs::read_to_string(self.place.path().join("audit.jsonl")).unwrap();
            let lines = written.lines().filter(|line| !line.contains("\"checkpoint\""));
            lines.map(|line| line.split_once("\",").map_or("", |(_, rest)| rest).to_owned()).collect()
        }
    }

    fn part(at: usize, make: impl FnOnce() -> String + Send + 'static) -> Option<LinePart> {
        Some(LinePart { at, make: Box::new(make) })
    }

    #[test]
    fn the_thread_makes_parts_of_lines() {
        let stage = Stage::new(FullDisk::Drop);
        let queue = stage.sink.queue(LineKind::Call);
        queue("{\"a\":1}", None);
        queue("{\"b\":\"--\"}", part(6, || "xy".to_owned()));
        queue("{\"c\":\"--\"}", part(6, || panic!("a bug")));
        queue("{\"d\":\"-\"}\n", part(6, || "z".to_owned()));
        let mut lines = stage.close();
        lines.retain(|line| !line.contains("\"timestamp\""));
        assert_eq!(lines, ["\"a\":1}", "\"b\":\"xy\"}", "\"c\":\"--\"}", "\"d\":\"z\"}"]);
        assert_eq!(stage.sink.health().lost(), 1);
    }

    #[test]
    fn calls_are_refused_before_a_line_is_lost() {
        let stage = Stage::new(FullDisk::Refuse);
        let queue = stage.sink.queue(LineKind::Call);
        let is_refusing = || stage.sink.health().refusing().load(Ordering::Relaxed);
        let (release, wait) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        // The thread does not keep up.
        let slow = part(6, move || {
            begin.send(()).unwrap();
            let _ = wait.recv();
            "x".to_owned()
        });
        queue("{\"a\":\"-\"}", slow);
        begun.recv().unwrap();
        let mut queued = 0;
        while !is_refusing() {
            queue("{}", None);
            queued += 1;
        }
        assert_eq!(queued, CROWDED + 1);
        // Calls that go on still have room when that of other events is used up.
        let events = stage.sink.queue(LineKind::Event);
        let lost = || stage.sink.health().lost();
        while lost() == 0 {
            events("{}", None);
            queued += 1;
        }
        assert_eq!(queued, QUEUED_EVENTS + 1);
        queue("{}", None);
        release.send(()).unwrap();
        while is_refusing() {
            thread::yield_now();
        }
        assert_eq!(lost(), 1);
        let mut written = stage.close();
        written.retain(|line| !line.contains("\"lost\""));
        // The line that was slow, and the last call.
        assert_eq!(written.len(), QUEUED_EVENTS + 2);
    }
}
