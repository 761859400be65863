//! News of steps, for observers of a run.

use std::time::Duration;

/// What is told of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// The step's place.
    pub step: usize,
    /// Of a `forEach`: the item's place.
    pub item: Option<usize>,
    /// What happened to it.
    pub what: What,
    /// Steps that have ended, of all.
    pub ended: usize,
}

/// What happened to a step.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// It began.
    Started,
    /// It waits for a person.
    Asking,
    /// It failed, and is tried again after so long.
    Retrying(Duration, String),
    /// It worked.
    Completed,
    /// It failed with this error, and the workflow goes on or ends.
    Failed(String),
    /// Its condition was false, or a question ended the workflow.
    Skipped,
}
