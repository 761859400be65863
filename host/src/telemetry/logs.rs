//! The log: where it goes, how much of it, and what becomes of lines that nobody reads.

use std::{
    io::{IsTerminal, Write},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use loggia_gate::call::TARGET as AUDIT;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    EnvFilter, Layer, filter::Targets, layer::SubscriberExt, registry, util::SubscriberInitExt,
};

use super::{
    line::{LineLayer, render_announcement},
    trail::{self, AuditFile},
};
pub use crate::config::server::Level;
use crate::config::server::{Format, Log};

/// The source of lines that an operator asks for by SIGUSR1: shown at every level of the log.
pub const VITALS: &str = "loggia::vitals";

/// Lines that wait to be written. When a reader of stderr does not keep up, further ones are dropped: a log must never
/// hold up a call.
const MAX_QUEUED: usize = 4096;

/// Writes the last lines when it is dropped.
static WRITER: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// The lines that were dropped.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Whether every line of stderr is to be a JSON object.
static JSON: AtomicBool = AtomicBool::new(false);

/// From here on, whatever the host says on stderr is a JSON object on a line: errors that end it and panics, too.
pub fn switch_to_json() {
    if !JSON.swap(true, Ordering::Relaxed) {
        std::panic::set_hook(Box::new(|panic| announce(tracing::Level::ERROR, &panic.to_string())));
    }
}

/// Whether that is so.
pub fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Writes a JSON object on a line of stderr, whatever the level, in place of a line for people.
pub fn announce(level: tracing::Level, message: &str) {
    // With nobody to read it there is nobody to tell.
    let _ = std::io::stderr().write_all(render_announcement(level, message).as_bytes());
}

/// Sends logs to stderr, through a thread of their own. `LOGGIA_LOG` overrides the level. The audit trail goes to its file,
/// where there is one, whatever the level is.
pub fn start(log: Log, trail: Option<AuditFile>) {
    if log.format == Format::Json {
        switch_to_json();
    }
    // rmcp logs whole results at its lower levels; wasmtime, notify and their like tell what only they understand.
    const OTHERS: &str = "rmcp=error,wasmtime=warn,cranelift=warn,notify=error,mio=warn,hyper=warn,h2=warn";
    // Told only to who sent a signal for it, so whatever the level is.
    let asked = format!("{}=info", VITALS);
    let default = level_name(log.level);
    let wanted = std::env::var("LOGGIA_LOG").ok().filter(|level| !level.trim().is_empty());
    let level = wanted.as_deref().unwrap_or(default);
    let known = level.contains(['=', ',']) || level.parse::<tracing::Level>().is_ok() || level == "off";
    let used = if known { level } else { default };
    let filter =
        EnvFilter::try_new(format!("{OTHERS},{asked},{used}")).unwrap_or_else(|_| EnvFilter::new(default));
    let (writer, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(MAX_QUEUED).finish(std::io::stderr());
    *WRITER.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    let dropped = DROPPED.get_or_init(|| writer.error_counter()).clone();
    let out = LossyWriter { writer, dropped, reported: AtomicUsize::new(0) };
    let colours = log.format == Format::Human
        && std::io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none();
    let write = move |line: &str| out.write(line);
    let lines = LineLayer { format: log.format, colours, write };
    let _ = match trail {
        // One filter for all is quicker to ask than one for each.
        None => registry().with(filter).with(lines).try_init(),
        Some(trail) => {
            let lines_of_trail = LineLayer { format: Format::Json, colours: false, write: trail.start() };
            let only = Targets::new().with_target(AUDIT, tracing::Level::DEBUG);
            let trail = lines_of_trail.with_filter(only);
            registry().with(lines.with_filter(filter)).with(trail).try_init()
        }
    };
    if !known {
        tracing::warn!(
            "LOGGIA_LOG={level} is no level: it is error, warn, info, debug or trace; {default} is used"
        );
    }
}

/// The same for a command that has no settings: for a person, at this level.
pub fn start_plain(level: Level) {
    start(Log { level, ..Log::default() }, None);
}

/// Writes what has been logged and not yet written. Waits for a reader, but not long.
pub fn flush() {
    trail::flush();
    drop(WRITER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// How many lines were dropped so far, because stderr was not read.
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

/// Says how many lines are missing, once there is room again.
struct LossyWriter {
    writer: NonBlocking,
    dropped: ErrorCounter,
    /// Of those that are missing, so many have been told.
    reported: AtomicUsize,
}

impl LossyWriter {
    fn write(&self, line: &str) {
        let mut writer = self.writer.clone();
        let before = self.dropped.dropped_lines();
        // It never fails: what finds no room is dropped, and counted.
        let _ = writer.write_all(line.as_bytes());
        let told = self.reported.load(Ordering::Relaxed);
        // This one found room, and it is the first to do so after others did not.
        if before > told
            && self.dropped.dropped_lines() == before
            && self.reported.compare_exchange(told, before, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            tracing::warn!("{} lines of the log were dropped: stderr was not read", before - told);
        }
    }
}
