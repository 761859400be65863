//! Faults of a guest: a sentence for the model, the rest for the log.

use loggia_facade::{Fault, FaultKind, Limit};
use loggia_policy::model::{
    PluginLimits,
    ceilings::{CORE_INSTANCES, MEMORIES, TABLES},
};
use loggia_text::{
    redact, shorten,
    units::{format_bytes, format_duration},
};
use wasmtime::{PoolConcurrencyLimitError, Store, Trap, WasmBacktrace};
use wasmtime_wasi::{I32Exit, ResourceTableError};

use crate::{
    SandboxEngine,
    guest::GuestState,
    wasmtime_errors::{is_data_limit, is_handle_limit, is_parts_limit, is_random_limit, trap_text},
};

/// Bytes of an error that are kept for the log: its backtrace has names that the guest chose. (The log of the call keeps as
/// much of stderr.)
const LOG: usize = 4 << 10;

/// Source lines of a trace, and bytes of each.
const LINES: usize = 16;
const LINE: usize = 300;

/// Work of a guest, which decides the limits of its CPU time and of its answer.
#[derive(Clone, Copy)]
pub(crate) enum GuestWork {
    /// Describes its surface. No policy can raise the size of that.
    Describe,
    /// Answers a call.
    Call { long_running: bool },
    /// Looks at a call, or at its outcome.
    Guard,
}

/// Facade and limits that a fault is attributed to.
pub(crate) struct FaultContext<'a> {
    pub facade: &'a str,
    pub limits: &'a PluginLimits,
    /// Holds the limits of the machine and of the host's operator.
    pub engine: &'a SandboxEngine,
    pub work: GuestWork,
}

impl FaultContext<'_> {
    /// Converts a guest's error to a fault.
    pub(crate) fn fault(&self, error: &wasmtime::Error, store: &Store<GuestState>) -> Fault {
        let last_words = store.data().finish_log();
        let (kind, text, limit) = self.classify(error, store, &last_words);
        // Not the debug form, which may hold a backtrace of the host's own.
        let mut log = format!("{error:#}");
        log.truncate(log.floor_char_boundary(LOG));
        let words = last_words.trim();
        if !words.is_empty() {
            log.push_str("\nstderr: ");
            log.push_str(words);
        }
        Fault { log: Some(log), trace: list_lines(error), ..self.new_fault(kind, &text, limit) }
    }

    fn classify(
        &self,
        error: &wasmtime::Error,
        store: &Store<GuestState>,
        last_words: &str,
    ) -> (FaultKind, String, Option<Limit>) {
        let limiter = &store.data().limiter;
        if error.is::<PoolConcurrencyLimitError>() {
            return (FaultKind::Host, "could not be started: too many calls run now".to_owned(), None);
        }
        if let Some(exit) = error.downcast_ref::<I32Exit>() {
            return (FaultKind::Exit, format!("ended itself with exit code {}", exit.0), None);
        }
        // Both WASI's table and the engine's own count enforce the limit; the first that is full fails.
        if matches!(error.downcast_ref(), Some(ResourceTableError::Full)) || is_handle_limit(error) {
            let handles = self.engine.handles(self.limits);
            // Where the machine has fewer, the policy cannot give more.
            let limit = (handles == self.limits.handles).then(|| self.limits.handles_limit());
            return (FaultKind::Resources, format!("held more than {handles} handles at once"), limit);
        }
        if is_data_limit(error) {
            // Its result is read when none of its code is on the stack.
            return if error.is::<WasmBacktrace>() {
                let text = "passed more data to the host at once than it may".to_owned();
                (FaultKind::Resources, text, Some(self.limits.host_data_limit()))
            } else {
                let text = "gave a result that is too large".to_owned();
                (FaultKind::OutputSize, text, self.answer_limit())
            };
        }
        if is_random_limit(error) {
            let text = "asked for more random bytes at once than it may".to_owned();
            return (FaultKind::Resources, text, Some(self.limits.random_limit()));
        }
        if is_parts_limit(error) {
            let text = format!(
                "is made of more than {CORE_INSTANCES} core instances, {MEMORIES} memories or {TABLES} tables"
            );
            return (FaultKind::Resources, text, None);
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => {
                let (text, limit) = self.cpu_text();
                (FaultKind::Cpu, text, Some(limit))
            }
            Some(Trap::StackOverflow) => {
                let value = format_bytes(self.engine.state.stack as u64);
                let text = format!("recursed deeper than {value} of stack");
                (FaultKind::Stack, text, Some(Limit { key: "--wasm-stack", value }))
            }
            // A guest that survived a refused allocation and panicked later reports that itself. Otherwise a failed
            // allocation aborts most guests, so the limiter is checked before the trap.
            _ if panic_message(last_words).is_some() => {
                let message = panic_message(last_words).unwrap_or_default();
                (FaultKind::Panic, format!("panicked: {message}"), None)
            }
            _ if limiter.memory_hit() => {
                let text = "asked for more memory than it may have".to_owned();
                (FaultKind::Memory, text, Some(self.limits.memory_limit()))
            }
            _ if limiter.tables_hit() => {
                let text = "asked for larger tables than it may have".to_owned();
                (FaultKind::Resources, text, Some(self.limits.tables_limit()))
            }
            Some(trap) => (FaultKind::Trap, format!("trapped: {}", trap_text(*trap)), None),
            // An error without any of its code on the stack is one of its result.
            None if !error.is::<WasmBacktrace>() => {
                (FaultKind::BadOutput, "gave a result that cannot be read".to_owned(), None)
            }
            None => (FaultKind::Trap, "failed inside the sandbox".to_owned(), None),
        }
    }

    /// The fault of a CPU budget that was used up outside the guest's own code.
    pub(crate) fn cpu_fault(&self) -> Fault {
        let (text, limit) = self.cpu_text();
        self.new_fault(FaultKind::Cpu, &text, Some(limit))
    }

    /// The fault of a guard that took too long, whatever it did.
    pub(crate) fn wall_fault(&self) -> Fault {
        let wall = format_duration(self.limits.wall);
        self.new_fault(FaultKind::Wall, &format!("did not answer within {wall}"), None)
    }

    /// The fault of an answer that is not what the contract says.
    pub(crate) fn bad_output_fault(&self, reason: impl std::fmt::Display) -> Fault {
        let fault = self.new_fault(FaultKind::BadOutput, "gave a result that cannot be read", None);
        let mut log = reason.to_string();
        log.truncate(log.floor_char_boundary(LOG));
        Fault { log: Some(log), ..fault }
    }

    /// The fault of a result that is too large.
    pub(crate) fn output_size_fault(&self, size: usize) -> Fault {
        let text = format!("gave a result of {size} bytes, which is too large");
        self.new_fault(FaultKind::OutputSize, &text, self.answer_limit())
    }

    /// Says that the CPU budget is used up, with its limit.
    fn cpu_text(&self) -> (String, Limit) {
        let limit = match self.work {
            GuestWork::Describe => self.limits.describe_limit(),
            GuestWork::Call { long_running } => self.limits.cpu_limit(long_running),
            GuestWork::Guard => self.limits.cpu_limit(false),
        };
        (format!("used up its CPU time of {}", limit.value), limit)
    }

    fn answer_limit(&self) -> Option<Limit> {
        match self.work {
            GuestWork::Describe | GuestWork::Guard => None,
            GuestWork::Call { .. } => Some(self.limits.result_limit()),
        }
    }

    fn new_fault(&self, kind: FaultKind, text: &str, limit: Option<Limit>) -> Fault {
        let prefix = if matches!(kind, FaultKind::Cpu | FaultKind::Wall) { "timed out: " } else { "" };
        // Guards have no policy, but keys of their own in the settings.
        let (guest, limit) = match self.work {
            GuestWork::Guard => ("guard", None),
            GuestWork::Describe | GuestWork::Call { .. } => ("plugin", limit),
        };
        let message = format!("{prefix}the {guest} `{}` {text}", self.facade);
        Fault { limit, ..Fault::new(kind, self.facade, message) }
    }
}

/// Lists the source lines at which the guest's functions were, the innermost first: those of its own sources and their
/// dependencies, without Rust's standard library.
fn list_lines(error: &wasmtime::Error) -> Vec<String> {
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else { return Vec::new() };
    let symbols = backtrace.frames().iter().flat_map(|frame| frame.symbols());
    let lines = symbols.filter_map(|symbol| {
        let file = symbol.file().filter(|file| !file.starts_with("/rustc/"))?;
        let name = symbol.name().unwrap_or("a function");
        Some(shorten(&format!("{name} at {file}:{}", symbol.line()?), LINE))
    });
    lines.take(LINES).collect()
}

/// Extracts the message that a Rust guest's panic hook wrote: the line after `panicked at`, without the place, which is for
/// the log.
fn panic_message(stderr: &str) -> Option<String> {
    let (_, rest) = stderr.rsplit_once("panicked at ")?;
    let mut lines = rest.lines();
    let place = lines.next()?;
    let message: Vec<&str> = lines.take_while(|line| !line.starts_with("note: ")).collect();
    let message = message.join(" ");
    let message = message.trim();
    // Before Rust 1.73 the message stood in quotes before the place.
    let message = if message.is_empty() { place } else { message };
    // Redacted first: the cut could leave the beginning of a secret.
    Some(shorten(&redact(message), 300))
}

#[cfg(test)]
mod tests {
    use super::panic_message;

    #[test]
    fn a_panic_is_told_by_its_message_without_its_place() {
        let check = |stderr: &str, expected: Option<&str>| {
            assert_eq!(panic_message(stderr).as_deref(), expected);
        };
        let note = "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        check(&format!("\nthread '<unnamed>' (1) panicked at src/lib.rs:3:5:\nboom\n{note}"), Some("boom"));
        check("thread 'main' panicked at src/lib.rs:3:5:\nleft\nright\n", Some("left right"));
        check("some other output\n", None);
    }
}
