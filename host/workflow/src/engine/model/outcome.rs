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
    /// Advice for the caller.
    pub hint: String,
}
