//! Why a caller gets no run.

use std::collections::BTreeSet;

use loggia_facade::{Failure, code};
use serde_json::json;

/// Says that there is no such run.
pub(crate) fn run_not_found() -> Failure {
    Failure::new(code::NOT_FOUND, "not found: no such run")
        .hint("runs are kept for an hour, and not across a restart of the server")
}

/// Says that a caller has as many unfinished runs as it may, and how to see and end them.
pub(crate) fn too_many_runs(count: usize, tools: &BTreeSet<String>) -> Failure {
    let message =
        format!("busy: {count} runs of yours have not ended, and a caller may have no more at once");
    let names: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    let of = if names.is_empty() { String::new() } else { format!(" (of {})", names.join(", ")) };
    let hint = format!(
        "`run_status` shows them{of}, without `run_id` all of a tool's; `run_cancel` ends one. Or wait until one has \
         ended. The operator can raise `http.per-caller.runs`."
    );
    let failure = Failure::new(code::UNAVAILABLE, message).hint(hint);
    let details = json!({ "unfinished": count, "tools": tools });
    Failure { retry_after_ms: Some(5000), details: Some(details), ..failure }
}
