//! Input of the machine.

use loggia_facade::{Answer, Failure, Object};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Input of a new run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunStart {
    /// `.workflow.id`.
    pub id: String,
    /// `.workflow.start_time`: RFC 3339, UTC.
    pub start_time: String,
    /// Validated parameters, with defaults.
    pub params: Object,
    /// Seed for the jitter of retries.
    pub seed: u64,
    /// Plans steps instead of making them.
    #[serde(default)]
    pub dry: Option<DryRun>,
}

/// Dry runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DryRun {
    /// Nothing is called.
    All,
    /// Actions that change nothing are called.
    Reads,
}

impl DryRun {
    /// Reads the argument of a call: `true`, `"reads"`; anything else is no dry run.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(true) => Some(Self::All),
            Value::String(text) if text == "reads" => Some(Self::Reads),
            _ => None,
        }
    }

    /// Writes the argument of a call.
    pub fn to_json(self) -> Value {
        match self {
            Self::All => Value::Bool(true),
            Self::Reads => "reads".into(),
        }
    }
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
    /// True for the call that undoes the step's, or the item's.
    #[serde(default)]
    pub undoes: bool,
}

impl TaskId {
    /// Identifies the first attempt of a step or an item.
    pub fn first(step: usize, item: Option<usize>) -> Self {
        Self { step, item, attempt: 0, undoes: false }
    }

    /// Identifies another attempt.
    #[must_use]
    pub fn with_attempt(self, attempt: u32) -> Self {
        Self { attempt, ..self }
    }
}

/// Event that the driver reports. It can be serialized and read again, which its constructors ensure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum RunEvent {
    /// Reply of a call, as an entry of the context.
    Replied(TaskId, Object),
    /// Failure of a call, or of a question that could not be asked.
    Failed(TaskId, Failure),
    /// A call was interrupted by a restart, and must not be repeated: its effect is unknown.
    Interrupted(TaskId),
    /// Answer of a person.
    Answered(TaskId, Answer),
    /// Timer at the time given by [`RunState::due`](crate::engine::RunState::due).
    Due,
    /// Cancellation by the caller.
    Cancelled,
    /// The operator lets an ended run begin again with this step, or with those that did not complete; or undo what could not be
    /// undone.
    Retried(Option<usize>),
    /// The host cannot continue the run, for this reason. What was requested last of these steps was not made.
    Stopped(String, Vec<usize>),
}

impl RunEvent {
    /// Returns the task that has ended by this event.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Replied(task, _)
            | Self::Failed(task, _)
            | Self::Interrupted(task)
            | Self::Answered(task, _) => Some(*task),
            Self::Due | Self::Cancelled | Self::Retried(_) | Self::Stopped(..) => None,
        }
    }
}
