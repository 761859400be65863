//! News of steps, for observers of a run.

use std::time::Duration;

/// News of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepNews {
    /// Index of the step.
    pub step: usize,
    /// Index of the item in a `forEach`.
    pub item: Option<usize>,
    /// Change of the step.
    pub change: StepChange,
    /// Number of steps that have ended.
    pub ended: usize,
}

/// Changes of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum StepChange {
    /// The step started.
    Started,
    /// The step waits for a person.
    Asking,
    /// The step failed and is retried after this pause.
    Retrying(Duration, String),
    /// The step completed.
    Completed,
    /// The step failed with this error; the workflow continues or ends.
    Failed(String),
    /// The step was skipped by its condition or by a question.
    Skipped,
    /// The step was stopped, since the run is undone.
    Stopped,
    /// The step was planned by a dry run.
    Planned,
    /// The call of the step, or of the item, is being undone.
    Undoing,
    /// It was undone.
    Undone,
    /// It could not be undone, for this reason.
    UndoFailed(String),
}
