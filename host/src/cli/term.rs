//! What a person at a terminal sees: colours and tables there, plain text in a pipe.

use std::{
    io::{ErrorKind, IsTerminal, Write},
    sync::{Mutex, PoisonError},
};

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

/// Lines that wait to be written. When a reader of stderr does not keep up, further ones are dropped: a log must never
/// hold up a call.
const LINES: usize = 4096;

/// Writes the last lines when it is dropped.
static WRITER: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// Sends logs to stderr, through a thread of their own. `LOGGIA_LOG` sets the level.
pub fn logs(default: &str) {
    // rmcp logs whole results at its lower levels; wasmtime, notify and their like tell what only they understand.
    const OTHERS: &str = "rmcp=error,wasmtime=warn,cranelift=warn,notify=error,mio=warn,hyper=warn,h2=warn";
    let wanted = std::env::var("LOGGIA_LOG").ok().filter(|level| !level.trim().is_empty());
    let level = wanted.as_deref().unwrap_or(default);
    let known = level.contains(['=', ',']) || level.parse::<tracing::Level>().is_ok() || level == "off";
    let used = if known { level } else { default };
    let filter = EnvFilter::try_new(format!("{OTHERS},{used}")).unwrap_or_else(|_| EnvFilter::new(default));
    let (writer, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES).finish(std::io::stderr());
    *WRITER.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(stderr_is_terminal())
        .with_target(false)
        .try_init();
    if !known {
        tracing::warn!(
            "LOGGIA_LOG={level} is no level: it is error, warn, info, debug or trace; {default} is used"
        );
    }
}

/// Writes what has been logged and not yet written. Waits for a reader, but not long.
pub fn flush() {
    drop(WRITER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Whether a person reads stdout.
pub fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Prints a line of the command's result. A reader that went away is no error; a full disk is.
pub fn out(text: &str) {
    let mut stdout = std::io::stdout();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            note(&format!("error: failed to write the result: {error}"));
            std::process::exit(super::exit::FAILED.into());
        }
        _ => {}
    }
}

/// Tells what is being done.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Tells why a command failed, with all its causes.
pub fn error(error: &anyhow::Error) {
    let label = if stderr_is_terminal() { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    let _ = writeln!(std::io::stderr(), "{label} {error:#}");
}
