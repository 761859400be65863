//! Input of the machine.

use loggia_facade::{Answer, Failure, Object, Reply};
use serde::{Deserialize, Serialize};

/// What a run begins with.
#[derive(Debug, Clone)]
pub struct RunStart {
    /// `.workflow.id`.
    pub id: String,
    /// `.workflow.start_time`: RFC 3339, UTC.
    pub start_time: String,
    /// Valid, with defaults.
    pub params: Object,
    /// For the chance in the pauses between retries.
    pub seed: u64,
}

/// Names one thing that is under way: a call, a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskId {
    /// The step's place.
    pub step: usize,
    /// Of a `forEach`: the item's place.
    pub item: Option<usize>,
    /// Which try, from 0.
    pub attempt: u32,
}

/// What happened.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// A call worked.
    Replied(TaskId, Reply),
    /// A call failed, or a question could not be put.
    Failed(TaskId, Failure),
    /// A person answered.
    Answered(TaskId, Answer),
    /// The moment that [`RunState::due`] named has come.
    Due,
    /// The caller went away or said stop.
    Cancelled,
}
