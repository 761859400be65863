//! Sets up the log: destination, level, and dropping of lines that are not read.

use std::{
    io::{IsTerminal, Write},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use loggia_audit::AuditSink;
use loggia_gate::call::{CALL_TARGET, TARGET as AUDIT};
pub use loggia_policy::settings::Level;
use loggia_policy::settings::{Format, Log};
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, layer::SubscriberExt, registry, util::SubscriberInitExt};

use super::{
    line::{LineLayer, TrailRoute, render_announcement},
    trail,
};

/// Target of the lines that an operator requests by SIGUSR1: they are logged at every level.
pub const VITALS: &str = "loggia::vitals";

/// Lines in the queue of the writer thread. If the reader of stderr does not keep up, further lines are dropped: the log
/// must never delay a call.
const MAX_QUEUED: usize = 4096;

/// Flushes the queue when it is dropped.
static WRITER: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// Counts the dropped lines.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Set once every line of stderr must be a JSON object.
static JSON: AtomicBool = AtomicBool::new(false);

/// Switches stderr to JSON lines. Panics and fatal errors follow the same format.
pub fn switch_to_json() {
    if !JSON.swap(true, Ordering::Relaxed) {
        std::panic::set_hook(Box::new(|panic| announce(tracing::Level::ERROR, &panic.to_string())));
    }
}

/// Returns true after [`switch_to_json`].
pub fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Writes one JSON line to stderr, regardless of the level.
pub fn announce(level: tracing::Level, message: &str) {
    // Without a reader of stderr, the failure cannot be reported either.
    let _ = std::io::stderr().write_all(render_announcement(level, message).as_bytes());
}

/// Starts logging to stderr on a separate thread. `LOGGIA_LOG` overrides the level. The audit trail goes to its file, if
/// there is one, regardless of the level.
pub fn start(log: Log, trail: Option<AuditSink>) {
    if log.format == Format::Json {
        switch_to_json();
    }
    // rmcp logs whole results at its lower levels, and the internals of the others do not help an operator.
    // Its workers report upstreams that cannot be reached; the host does so by their names.
    const OTHERS: &str = "rmcp=error,rmcp::transport::worker=off,wasmtime=warn,cranelift=warn,notify=error,\
                          mio=warn,hyper=warn,h2=warn";
    // Logged only on request, by a signal, so at every level.
    let asked = format!("{}=info", VITALS);
    let default = level_name(log.level);
    let wanted = std::env::var("LOGGIA_LOG").ok().filter(|level| !level.trim().is_empty());
    let level = wanted.as_deref().unwrap_or(default);
    // A level that cannot be parsed must not take that of the trail with it.
    let known = level.split(',').all(is_directive) && EnvFilter::try_new(level).is_ok();
    let used = if known { level } else { default };
    let levels = format!("{OTHERS},{asked},{used}");
    // What the log shows of the trail's events, which the filter lets pass in any case if there is a trail.
    let (is_logged, shows_calls) =
        tracing::subscriber::with_default(registry().with(EnvFilter::new(&levels)), || {
            (
                tracing::enabled!(target: AUDIT, tracing::Level::DEBUG),
                tracing::enabled!(target: CALL_TARGET, tracing::Level::DEBUG),
            )
        });
    let filter = match &trail {
        None => EnvFilter::new(&levels),
        Some(_) => {
            // Calls that ran have a way of their own to the trail.
            let calls = if shows_calls { "debug" } else { "off" };
            EnvFilter::new(format!("{levels},{AUDIT}=debug,{CALL_TARGET}={calls}"))
        }
    };
    let (writer, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(MAX_QUEUED).finish(std::io::stderr());
    *WRITER.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    let dropped = DROPPED.get_or_init(|| writer.error_counter()).clone();
    let out = LossyWriter { writer, dropped, reported: AtomicUsize::new(0) };
    let colours = log.format == Format::Human
        && std::io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none();
    let trail =
        trail.map(|sink| TrailRoute { target: AUDIT, write: Box::new(trail::start(sink)), is_logged });
    let write = move |line: &str| out.write(line);
    // A global filter is faster than one per layer.
    let _ = registry().with(filter).with(LineLayer { format: log.format, colours, write, trail }).try_init();
    if !known {
        tracing::warn!(
            "LOGGIA_LOG={level} is not a log level (error, warn, info, debug, trace); using {default}"
        );
    }
}

/// Whether a text is a level, or one of a module. The filter takes others, too, such as a name alone, and then logs nothing else.
fn is_directive(text: &str) -> bool {
    let (module, level) = text.split_once('=').unwrap_or(("", text));
    let is_module = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':');
    module.chars().all(is_module) && (level == "off" || level.parse::<tracing::Level>().is_ok())
}

/// Starts logging for a command without settings: human format, at this level.
pub fn start_plain(level: Level) {
    start(Log { level, ..Log::default() }, None);
}

/// Writes the queued lines. Waits briefly if stderr is not read.
pub fn flush() {
    trail::flush();
    drop(WRITER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Returns how many lines were dropped because stderr was not read.
pub fn dropped() -> usize {
    DROPPED.get().map_or(0, ErrorCounter::dropped_lines)
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Off => "off",
        Level::Error => "error",
        Level::Warn => "warn",
        Level::Info => "info",
        Level::Debug => "debug",
        Level::Trace => "trace",
    }
}

/// Writer that reports how many lines were dropped, once there is room again.
struct LossyWriter {
    writer: NonBlocking,
    dropped: ErrorCounter,
    /// Dropped lines that have already been reported.
    reported: AtomicUsize,
}

impl LossyWriter {
    fn write(&self, line: &str) {
        let mut writer = self.writer.clone();
        let before = self.dropped.dropped_lines();
        // It never fails: a line that finds no room is dropped and counted.
        let _ = writer.write_all(line.as_bytes());
        let reported = self.reported.load(Ordering::Relaxed);
        // This line found room, as the first one after others did not.
        if before > reported
            && self.dropped.dropped_lines() == before
            && self.reported.compare_exchange(reported, before, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            tracing::warn!("{} lines of the log were dropped: stderr was not read", before - reported);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_have_a_level() {
        for known in ["info", "WARN", "off", "loggia::audit=debug", "rmcp=off"] {
            assert!(is_directive(known), "{known}");
        }
        for unknown in ["", "foo", "info loggia=debug", "blah=", "a b=info", "=x"] {
            assert!(!is_directive(unknown), "{unknown}");
        }
    }
}
