//! Prints results and notes: colours and tables on a terminal, plain text in a pipe.

use std::io::{ErrorKind, IsTerminal, Write};

use loggia_telemetry::logs;
use loggia_text::{printable_json, printable_text};
use serde_json::Value;
use tracing::Level;

/// Whether stdout is a terminal.
pub fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether results are coloured.
pub fn stdout_has_colours() -> bool {
    stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Prints a line of the result. Ignores a closed pipe; exits on other errors, such as a full disk.
pub fn print(text: &str) {
    let mut stdout = std::io::stdout();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            note(&format!("error: failed to write the result: {error}"));
            std::process::exit(super::exit::FAILED.into());
        }
        _ => {}
    }
}

/// Prints a JSON result: indented and escaped on a terminal, raw on one line in a pipe.
pub fn print_json(value: &Value) {
    print(&render_json(value, stdout_is_terminal()));
}

fn render_json(value: &Value, terminal: bool) -> String {
    if terminal { printable_json(&format!("{value:#}")).into_owned() } else { value.to_string() }
}

/// Returns a writer for large results. Ignores a closed pipe, too.
pub fn stdout_writer() -> impl Write {
    StdoutWriter(std::io::stdout())
}

struct StdoutWriter(std::io::Stdout);

impl Write for StdoutWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        ignore_broken_pipe(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        ignore_broken_pipe(self.0.flush(), ())
    }
}

/// Replaces a broken pipe error by `instead`.
fn ignore_broken_pipe<T>(written: std::io::Result<T>, instead: T) -> std::io::Result<T> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(instead),
        other => other,
    }
}

/// Whether a person can be asked: both stdin and stderr are terminals.
pub fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for confirmation; any answer but yes is a no. `None` without a terminal.
pub fn confirm(question: &str) -> Option<bool> {
    is_interactive().then(|| ask(&format!("{question} [y/N] ")).is_some_and(|answer| is_yes(&answer)))
}

/// Asks for a line. `None` without a terminal, and at the end of the input.
pub fn ask(question: &str) -> Option<String> {
    if !is_interactive() {
        return None;
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question}").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer).ok().filter(|read| *read > 0);
    read.map(|_| answer.trim().to_owned())
}

/// Whether a line agrees.
pub fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Prints a note to stderr, as JSON if logs are JSON. Escapes terminal control in the text. Text of others that must
/// stay on one line has to be made [printable](loggia_text::printable) first.
pub fn note(text: &str) {
    if logs::is_json() {
        return logs::announce(Level::INFO, text);
    }
    let _ = writeln!(std::io::stderr(), "{}", printable_text(text));
}

/// Prints an error with all its causes, as JSON if logs are JSON.
pub fn print_error(error: &anyhow::Error) {
    if logs::is_json() {
        return logs::announce(Level::ERROR, &format!("{error:#}"));
    }
    let label = if stderr_is_terminal() { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    let _ = writeln!(std::io::stderr(), "{label} {}", printable_text(&format!("{error:#}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_confirms() {
        for (answer, yes) in
            [("y\n", true), (" YES \n", true), ("", false), ("\n", false), ("n\n", false), ("yep\n", false)]
        {
            assert_eq!(is_yes(answer), yes, "{answer:?}");
        }
    }

    #[test]
    fn json_is_escaped_only_for_terminals() {
        let value = serde_json::json!({"c1": "\u{9b}2J\u{1b}[2J", "bidi": "\u{202e}gnp.exe", "plain": "ä"});
        let (terminal, pipe) = (render_json(&value, true), render_json(&value, false));
        assert!(terminal.contains(r"\u009b2J\u001b[2J") && terminal.contains(r"\u202egnp.exe"), "{terminal}");
        assert!(terminal.chars().all(|c| c == '\n' || !loggia_text::is_hidden(c)) && terminal.contains('ä'));
        assert!(pipe.contains('\u{9b}') && pipe.contains('\u{202e}') && !pipe.contains('\n'), "{pipe}");
        for json in [terminal, pipe] {
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
        }
    }

    #[test]
    fn a_broken_pipe_is_no_error() {
        assert_eq!(ignore_broken_pipe(Err(ErrorKind::BrokenPipe.into()), 7).unwrap(), 7);
        assert_eq!(ignore_broken_pipe(Ok(3), 7).unwrap(), 3);
        assert!(ignore_broken_pipe(Err(ErrorKind::StorageFull.into()), 7).is_err());
    }
}
