//! Results of runs.

use serde::Serialize;
use serde_json::Value;

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// The result.
    Completed(Value),
    /// It failed.
    Failed(Box<RunReport>),
}

/// Where and why a run failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// `step_failed`, `timed_out` or `cancelled`.
    pub code: String,
    /// One sentence: what failed, and why.
    pub message: String,
    /// The workflow.
    pub workflow: String,
    /// The step that ended it; none where its time was up or its output could not be made.
    pub step: Option<String>,
    /// What the step's call said: `{code, error, hint?}`.
    pub cause: Option<Value>,
    /// What the step was called with, without secrets.
    pub inputs: Option<Value>,
    /// Steps that worked: what they did stays done.
    pub completed: Vec<String>,
    /// Steps that failed: the one that ended the workflow, and those that did not.
    pub failed: Vec<String>,
    /// Steps whose condition was false.
    pub skipped: Vec<String>,
    /// Steps that were stopped under way: what they did nobody knows.
    pub stopped: Vec<String>,
    /// Steps that never began.
    pub not_run: Vec<String>,
    /// What to do about it.
    pub hint: String,
}
