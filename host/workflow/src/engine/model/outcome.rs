//! Results of runs.

use serde::Serialize;
use serde_json::Value;

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// Result of a completed run.
    Completed(Value),
    /// Report of a failed run.
    Failed(Box<RunReport>),
}

/// Report of a failed run, for the caller.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// `step_failed`, `timed_out` or `cancelled`.
    pub code: String,
    /// One sentence: the failure and its reason.
    pub message: String,
    /// Name of the workflow.
    pub workflow: String,
    /// Step that ended the run; `None` for a timeout of the run or a failed output.
    pub step: Option<String>,
    /// Failure of the step's call: `{code, error, hint?}`.
    pub cause: Option<Value>,
    /// Parameters of the step's call, redacted.
    pub inputs: Option<Value>,
    /// Completed steps; their effects remain.
    pub completed: Vec<String>,
    /// Failed steps, including the one that ended the run.
    pub failed: Vec<String>,
    /// Steps skipped by their condition.
    pub skipped: Vec<String>,
    /// Steps stopped while active; their effects are unknown.
    pub stopped: Vec<String>,
    /// Steps that never started.
    pub not_run: Vec<String>,
    /// What a saga has undone, and what remains.
    #[serde(flatten)]
    pub undo: Option<UndoReport>,
    /// Advice for the caller.
    pub hint: String,
}

/// What a saga has undone. Calls of a `forEach` are named `step#index`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UndoReport {
    /// True if nothing that the run has changed remains.
    pub undone: bool,
    /// Calls that were undone, in that order.
    pub compensated: Vec<String>,
    /// Calls whose effects remain or are unknown, since undoing them failed.
    pub compensation_failed: Vec<FailedUndo>,
    /// Irreversible calls that were made.
    pub not_reversible: Vec<String>,
    /// Other calls whose effects remain: an irreversible one was, or may have been, made after them.
    pub remaining: Vec<String>,
    /// Calls that may have taken effect or not.
    pub unknown: Vec<String>,
}

/// A call that could not be undone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailedUndo {
    /// The call.
    pub step: String,
    /// Code of the last failure.
    pub code: String,
    /// The last failure.
    pub error: String,
}
