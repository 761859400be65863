//! Failures of workflows, for their callers.

use loggia_facade::{Failure, code};
use serde_json::Value;

use crate::{FileProblem, Workflow, engine::RunReport};

/// Creates the denial for a caller who may run the workflow but not its steps.
pub(super) fn to_denied(workflow: &Workflow, problem: &FileProblem) -> Failure {
    let message = format!("access denied: `{}` was not run: {}", workflow.name, problem.message);
    let failure = Failure::new(code::DENIED, message);
    match &problem.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Maximum number of problems in a message.
const MAX_REPORTED: usize = 5;

pub(super) fn to_unavailable(workflow: &Workflow, problems: &[FileProblem]) -> Failure {
    let messages: Vec<&str> =
        problems.iter().take(MAX_REPORTED).map(|problem| problem.message.as_str()).collect();
    let more = problems.len().saturating_sub(MAX_REPORTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message = format!("`{}` is unavailable: {}{more}", workflow.name, messages.join("; "));
    let hint = "nothing was run; the operator can load what is missing, or fix the workflow file";
    Failure::new(code::UNAVAILABLE, message).hint(hint)
}

/// Creates the failure of a run whose journal cannot be read.
pub(super) fn to_unreadable(reason: String) -> Failure {
    let message = format!("the run cannot continue after a restart: {reason}");
    Failure::new(code::INTERNAL, message).hint("check what it did before starting it again")
}

/// Converts a report into a failure for the caller.
pub(super) fn to_failure(report: RunReport) -> Failure {
    let (code, message, hint) = (report.code.clone(), report.message.clone(), report.hint.clone());
    let mut details = serde_json::to_value(report).unwrap_or_default();
    if let Value::Object(details) = &mut details {
        // The envelope already carries these fields.
        details.retain(|key, value| !matches!(key.as_str(), "code" | "message" | "hint") && !value.is_null());
    }
    Failure { details: Some(details), ..Failure::new(&code, message).hint(hint) }
}
