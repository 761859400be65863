//! The audit trail of this process.

use std::{
    cell::RefCell,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use loggia_audit::{AuditSink, FullDisk, LineKind, LinePart, TrailError, TrailOptions};
use loggia_gate::call::{CallLine, CallTrail};
use loggia_policy::settings::{Audit, FullAudit};

use super::call_line::CallLineWriter;

/// The sink of this process, once logging has started.
static SINK: OnceLock<AuditSink> = OnceLock::new();

/// Opens the trail of the settings, if they name a file. Its key is in the state folder.
///
/// # Errors
///
/// If the file or the key cannot be used.
pub fn open(settings: &Audit, state: &Path) -> Result<Option<AuditSink>, TrailError> {
    let Some(file) = settings.file.clone() else { return Ok(None) };
    let full = match settings.full {
        FullAudit::Drop => FullDisk::Drop,
        FullAudit::Refuse => FullDisk::Refuse,
    };
    let options = TrailOptions {
        file,
        state: state.to_owned(),
        rotate: settings.rotate.bytes() as u64,
        keep: settings.keep,
    };
    AuditSink::open(&options, full).map(Some)
}

/// Makes a sink that of this process. Returns a function that queues lines.
pub(super) fn start(sink: AuditSink) -> impl Fn(&str) + Send + Sync + 'static {
    let queue = sink.queue(LineKind::Event);
    // Logging starts once.
    let _ = SINK.set(sink);
    move |line| queue(line, None)
}

/// The trail of calls that ran, if there is a trail.
pub fn of_calls() -> Option<Arc<dyn CallTrail>> {
    SINK.get().map(|sink| Arc::new(CallLines { queue: sink.queue(LineKind::Call) }) as Arc<dyn CallTrail>)
}

/// Writes the lines of calls that ran.
struct CallLines<Q> {
    queue: Q,
}

thread_local! {
    /// Renders the lines of this thread.
    static LINE: RefCell<CallLineWriter> = const { RefCell::new(CallLineWriter::new()) };
}

impl<Q: Fn(&str, Option<LinePart>) + Send + Sync> CallTrail for CallLines<Q> {
    fn write(&self, line: CallLine<'_>) {
        LINE.with_borrow_mut(|writer| {
            let part = writer.render(line, SystemTime::now());
            (self.queue)(&writer.text, part);
        });
    }
}

/// A trail that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrailFault {
    /// Lines are lost.
    LosesLines,
    /// Calls are refused.
    RefusesCalls,
}

impl TrailFault {
    /// Text for operators.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LosesLines => "the audit file cannot be written: lines are lost; the log has the reason",
            Self::RefusesCalls => {
                "the audit file cannot be written, or not as fast as calls come: calls are refused; the log has the reason"
            }
        }
    }
}

/// Why the trail cannot be written now; `None` if it can, or there is none.
pub fn fault() -> Option<TrailFault> {
    let sink = SINK.get().filter(|sink| {
        let health = sink.health();
        health.is_failing() || health.refusing().load(Ordering::Relaxed)
    })?;
    Some(match sink.full_disk() {
        FullDisk::Drop => TrailFault::LosesLines,
        FullDisk::Refuse => TrailFault::RefusesCalls,
    })
}

/// The file of this process, if it has a trail.
pub fn file() -> Option<&'static Path> {
    SINK.get().map(AuditSink::path)
}

/// Set while calls must be refused. `None` if they never are.
pub fn refusal() -> Option<Arc<AtomicBool>> {
    let sink = SINK.get().filter(|sink| sink.full_disk() == FullDisk::Refuse)?;
    Some(Arc::clone(sink.health().refusing()))
}

/// Writes the queued lines and a checkpoint. Waits briefly for a slow disk.
pub fn flush() {
    if let Some(sink) = SINK.get() {
        sink.close();
    }
}

/// Returns how many lines were lost so far.
pub fn lost() -> usize {
    SINK.get().map_or(0, |sink| sink.health().lost())
}
