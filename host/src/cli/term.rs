//! What a person at a terminal sees: colours and tables there, plain text in a pipe.

use std::io::{IsTerminal, Write};

use tracing_subscriber::EnvFilter;

/// Sends logs to stderr. `LOGGIA_LOG` sets the level.
pub fn logs(default: &str) {
    let filter = EnvFilter::try_from_env("LOGGIA_LOG")
        // rmcp logs whole results at its lower levels.
        .unwrap_or_else(|_| EnvFilter::new(format!("{default},rmcp=error")));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(stderr_is_terminal())
        .with_target(false)
        .try_init();
}

/// Whether a person reads stdout.
pub fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Prints a line of the command's result. A reader that went away is no error.
pub fn out(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
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
