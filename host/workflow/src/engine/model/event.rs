//! Input of the machine.

use loggia_facade::{Answer, Failure, Object, Reply};
use serde::{Deserialize, Serialize};

/// Input of a new run.
#[derive(Debug, Clone)]
pub struct RunStart {
    /// `.workflow.id`.
    pub id: String,
    /// `.workflow.start_time`: RFC 3339, UTC.
    pub start_time: String,
    /// Validated parameters, with defaults.
    pub params: Object,
    /// Seed for the jitter of retries.
    pub seed: u64,
}

/// Identifier of a call or question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskId {
    /// Index of the step.
    pub step: usize,
    /// Index of the item in a `forEach`.
    pub item: Option<usize>,
    /// Attempt, from 0.
    pub attempt: u32,
}

/// Event that the driver reports.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// Reply of a call.
    Replied(TaskId, Reply),
    /// Failure of a call, or of a question that could not be asked.
    Failed(TaskId, Failure),
    /// Answer of a person.
    Answered(TaskId, Answer),
    /// Timer at the time given by [`RunState::due`](crate::engine::RunState::due).
    Due,
    /// Cancellation by the caller.
    Cancelled,
}
