//! The audit trail of this process.

use std::{
    cell::RefCell,
    path::Path,
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::SystemTime,
};

use loggia_audit::{AuditSink, FullDisk, TrailError, TrailOptions};
use loggia_gate::call::AuditThread;
use loggia_policy::settings::{Audit, FullAudit};

use super::line::CapturedEvent;

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

/// Bytes of an event that may wait to be rendered: longer ones are cut before they wait.
const MAX_WAITING: usize = 4 << 10;

/// An event that the thread of the trail logs for a call.
struct DeferredEvent {
    time: SystemTime,
    line: Option<String>,
}

thread_local! {
    /// Set while this thread, that of the trail, logs an event for a call.
    static DEFERRED: RefCell<Option<DeferredEvent>> = const { RefCell::new(None) };
}

/// Time of the event that this thread logs.
pub(super) fn event_time() -> SystemTime {
    let deferred = DEFERRED.with_borrow(|deferred| deferred.as_ref().map(|event| event.time));
    deferred.unwrap_or_else(SystemTime::now)
}

/// Makes a sink that of this process. Returns a function that queues events as lines. The thread of the sink renders them: it would
/// take longer than a short call.
pub(super) fn start(sink: AuditSink) -> impl Fn(CapturedEvent) + Send + Sync + 'static {
    let queue = sink.queue();
    // Logging starts once.
    let _ = SINK.set(sink);
    move |event| {
        let is_deferred = DEFERRED.with_borrow_mut(|deferred| {
            deferred.as_mut().map(|deferred| deferred.line = Some(event.render())).is_some()
        });
        if is_deferred {
            // The queue has brought it here.
        } else if event.size() > MAX_WAITING {
            let line = event.render();
            queue(Box::new(|| Some(line)));
        } else {
            queue(Box::new(move || Some(event.render())));
        }
    }
}

/// Lets the thread of the trail log events of calls, in their order among the others and with the time of now. `None` without a
/// trail.
pub fn thread() -> Option<AuditThread> {
    let queue = SINK.get()?.queue();
    Some(Arc::new(move |log| {
        let time = SystemTime::now();
        queue(Box::new(move || {
            DEFERRED.set(Some(DeferredEvent { time, line: None }));
            log();
            DEFERRED.take()?.line
        }));
    }))
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
                "the audit file cannot be written: calls are refused; the log has the reason"
            }
        }
    }
}

/// Why the trail cannot be written now; `None` if it can, or there is none.
pub fn fault() -> Option<TrailFault> {
    let sink = SINK.get().filter(|sink| sink.health().is_failing())?;
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
    Some(Arc::clone(sink.health().failing()))
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
