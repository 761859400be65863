//! Failures that the gate reports to callers, by their standard first words.
//!
//! Callers are models: each message starts with the kind of failure, and a hint says what to do about it.

use std::{collections::BTreeSet, fmt::Display};

use loggia_facade::{Failure, code};
use serde_json::json;

/// Refuses a call by policy or by the caller's rights: `access denied: …`.
pub(crate) fn denied(reason: impl Display) -> Failure {
    Failure::new(code::DENIED, format!("access denied: {reason}"))
}

/// Reports something that cannot be done now: `unavailable: …`.
pub(crate) fn unavailable(reason: impl Display) -> Failure {
    Failure::new(code::UNAVAILABLE, format!("unavailable: {reason}"))
}

/// Reports a facade that answers no calls now: `` `notes` is unavailable: … ``.
pub(crate) fn facade_unavailable(facade: impl Display, reason: impl Display) -> Failure {
    Failure::new(code::UNAVAILABLE, format!("`{facade}` is unavailable: {reason}"))
}

/// Reports a limit on concurrent work: `busy: …`.
pub(crate) fn busy(reason: impl Display) -> Failure {
    Failure::new(code::UNAVAILABLE, format!("busy: {reason}"))
}

/// Reports a clock that ran out: `timed out: …`.
pub(crate) fn timed_out(reason: impl Display) -> Failure {
    Failure::new(code::TIMED_OUT, format!("timed out: {reason}"))
}

/// Reports a name that leads nowhere: `not found: …`.
pub(crate) fn not_found(reason: impl Display) -> Failure {
    Failure::new(code::NOT_FOUND, format!("not found: {reason}"))
}

/// Refuses a request as malformed.
pub(crate) fn invalid_params(message: impl Into<String>) -> Failure {
    Failure::new(code::INVALID_PARAMS, message)
}

/// Failure of a caller that cancels a run through a tool that does not show its action.
pub(crate) fn cancel_elsewhere() -> Failure {
    denied("this tool does not show the action that the run is of")
        .hint("cancel it through the tool that started it")
}

/// Reports an unknown handle. The text does not distinguish runs that were evicted or belong to another caller.
pub(crate) fn run_not_found() -> Failure {
    not_found("no such run").hint("ended runs are kept for a week")
}

/// Reports that a caller has as many unfinished runs as it may have; names the tools that list and cancel them.
pub(crate) fn too_many_runs(count: usize, tools: &BTreeSet<String>) -> Failure {
    let failure =
        busy(format!("{count} runs of yours have not ended, and a caller may have no more at once"));
    let names: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    let of = if names.is_empty() { String::new() } else { format!(" (of {})", names.join(", ")) };
    let hint = format!(
        "`run_status` shows them{of}, without `run_id` all of a tool's; `run_cancel` ends one. Or wait until one has \
         ended. The operator can raise `http.per-caller.runs`."
    );
    let details = json!({ "unfinished": count, "tools": tools });
    Failure { retry_after_ms: Some(5000), details: Some(details), ..failure.hint(hint) }
}
