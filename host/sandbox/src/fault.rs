//! What went wrong in a guest, told twice: a sentence for the model, the rest for the log.

use loggia_facade::{Fault, FaultKind, Limit};
use loggia_text::{redact, shorten};
use wasmtime::{PoolConcurrencyLimitError, Store, Trap, WasmBacktrace};
use wasmtime_wasi::{I32Exit, ResourceTableError};

use crate::{
    Engine,
    guest::Guest,
    limits::{CORE_INSTANCES, Limits, MEMORIES, TABLES, bytes_text},
};

/// Bytes of an error that are kept for the log: its backtrace has names that the guest chose. (Of what the guest wrote to
/// stderr the output keeps as much.)
const LOG: usize = 4 << 10;

/// Whose fault, and by what limits.
pub(crate) struct Blame<'a> {
    pub facade: &'a str,
    pub limits: &'a Limits,
    /// What the machine and the host's operator add to these.
    pub engine: &'a Engine,
    /// The CPU budget that applied, with its key.
    pub cpu: Limit,
    /// What limits an answer; nothing that could be raised, while the surface is read.
    pub answer: Option<Limit>,
}

impl Blame<'_> {
    /// The fault that a guest's error is.
    pub fn of(&self, error: &wasmtime::Error, store: &Store<Guest>) -> Fault {
        let last_words = store.data().finish();
        let (kind, said, limit) = self.verdict(error, store, &last_words);
        // Not the debug form, which may hold a backtrace of the host's own.
        let mut log = format!("{error:#}");
        log.truncate(log.floor_char_boundary(LOG));
        let words = last_words.trim();
        if !words.is_empty() {
            log.push_str("\nstderr: ");
            log.push_str(words);
        }
        Fault { log: Some(log), ..self.fault(kind, &said, limit) }
    }

    fn verdict(
        &self,
        error: &wasmtime::Error,
        store: &Store<Guest>,
        last_words: &str,
    ) -> (FaultKind, String, Option<Limit>) {
        let limiter = &store.data().limiter;
        if error.is::<PoolConcurrencyLimitError>() {
            return (FaultKind::Host, "could not be started: too many calls run now".to_owned(), None);
        }
        if let Some(exit) = error.downcast_ref::<I32Exit>() {
            return (FaultKind::Exit, format!("ended itself with exit code {}", exit.0), None);
        }
        // WASI's table and the engine's own count both hold guests to the limit; whichever is full first speaks.
        if matches!(error.downcast_ref(), Some(ResourceTableError::Full))
            || says(error, "handle limit exceeded")
        {
            let handles = self.engine.handles(self.limits);
            // Where the machine has fewer, the policy cannot give more.
            let limit = (handles == self.limits.handles).then(|| self.limits.handles_limit());
            return (FaultKind::Resources, format!("held more than {handles} handles at once"), limit);
        }
        if says(error, "fuel allocated for hostcalls has been exhausted") {
            // Its result is read when none of its code runs any more.
            return if error.is::<WasmBacktrace>() {
                let said = "passed more data to the host at once than it may".to_owned();
                (FaultKind::Resources, said, Some(self.limits.host_data_limit()))
            } else {
                let said = "gave a result that is too large".to_owned();
                (FaultKind::OutputSize, said, self.answer.clone())
            };
        }
        if says(error, "requested len") && says(error, "exceeds limit") {
            let said = "asked for more random bytes at once than it may".to_owned();
            return (FaultKind::Resources, said, Some(self.limits.random_limit()));
        }
        if says(error, "resource limit exceeded") {
            let said = format!(
                "is made of more than {CORE_INSTANCES} core instances, {MEMORIES} memories or {TABLES} tables"
            );
            return (FaultKind::Resources, said, None);
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => (FaultKind::Cpu, self.spent_text(), Some(self.cpu.clone())),
            Some(Trap::StackOverflow) => {
                let value = bytes_text(self.engine.inner.stack);
                let said = format!("recursed deeper than {value} of stack");
                (FaultKind::Stack, said, Some(Limit { key: "--wasm-stack", value }))
            }
            // A guest that outlived a refused allocation and panicked later says so itself. Otherwise a failed
            // allocation aborts most guests, so the limiter is asked before the trap is believed.
            _ if panic_message(last_words).is_some() => {
                let message = panic_message(last_words).unwrap_or_default();
                (FaultKind::Panic, format!("panicked: {message}"), None)
            }
            _ if limiter.memory_hit() => {
                let said = "asked for more memory than it may have".to_owned();
                (FaultKind::Memory, said, Some(self.limits.memory_limit()))
            }
            _ if limiter.tables_hit() => {
                let said = "asked for larger tables than it may have".to_owned();
                (FaultKind::Resources, said, Some(self.limits.tables_limit()))
            }
            Some(trap) => {
                let said = trap.to_string();
                let said = said.strip_prefix("wasm trap: ").unwrap_or(&said);
                (FaultKind::Trap, format!("trapped: {said}"), None)
            }
            // What goes wrong when none of its code runs goes wrong with what it gave back.
            None if !error.is::<WasmBacktrace>() => {
                (FaultKind::BadOutput, "gave a result that cannot be read".to_owned(), None)
            }
            None => (FaultKind::Trap, "failed inside the sandbox".to_owned(), None),
        }
    }

    /// The CPU budget is used up, seen from outside the guest.
    pub fn spent(&self) -> Fault {
        self.fault(FaultKind::Cpu, &self.spent_text(), Some(self.cpu.clone()))
    }

    /// What was returned is not what the contract says.
    pub fn bad_output(&self, reason: impl std::fmt::Display) -> Fault {
        let fault = self.fault(FaultKind::BadOutput, "gave a result that cannot be read", None);
        let mut log = reason.to_string();
        log.truncate(log.floor_char_boundary(LOG));
        Fault { log: Some(log), ..fault }
    }

    /// The result is too large.
    pub fn output_size(&self, size: usize) -> Fault {
        let said = format!("gave a result of {size} bytes, which is too large");
        self.fault(FaultKind::OutputSize, &said, self.answer.clone())
    }

    fn spent_text(&self) -> String {
        format!("used up its CPU time of {}", self.cpu.value)
    }

    fn fault(&self, kind: FaultKind, said: &str, limit: Option<Limit>) -> Fault {
        let begins = if kind == FaultKind::Cpu { "timed out: " } else { "" };
        Fault {
            kind,
            facade: self.facade.to_owned(),
            message: format!("{begins}the plugin `{}` {said}", self.facade),
            limit,
            log: None,
        }
    }
}

/// wasmtime has no types for these errors; the tests of the limits check their texts.
fn says(error: &wasmtime::Error, text: &str) -> bool {
    // The root alone: the backtrace around it holds names that the guest chose.
    error.root_cause().to_string().contains(text)
}

/// What a Rust guest's panic hook wrote: the line after `panicked at`, without the place, which is for the log.
fn panic_message(stderr: &str) -> Option<String> {
    let (_, rest) = stderr.rsplit_once("panicked at ")?;
    let mut lines = rest.lines();
    let place = lines.next()?;
    let message: Vec<&str> = lines.take_while(|line| !line.starts_with("note: ")).collect();
    let message = message.join(" ");
    let message = message.trim();
    // Before Rust 1.73 the message stood in quotes before the place.
    let message = if message.is_empty() { place } else { message };
    // First: of a secret across the cut, the beginning would be told.
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
