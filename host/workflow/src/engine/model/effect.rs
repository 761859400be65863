//! Output of the machine.

use std::time::Duration;

use loggia_facade::Object;

use super::{event::TaskId, news::StepNews, outcome::RunOutcome};

/// Effect that the driver must carry out.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEffect {
    /// Makes a call; the driver reports its result.
    Call {
        /// Task of the call.
        task: TaskId,
        /// Facade.
        facade: String,
        /// Action.
        action: String,
        /// Parameters.
        params: Object,
        /// Idempotency key, equal for all attempts of the same call in the same run.
        idempotency_key: String,
    },
    /// Asks a question; the driver reports the answer.
    Ask {
        /// Task of the question.
        task: TaskId,
        /// Message.
        message: String,
        /// JSON Schema of the answer.
        schema: Object,
        /// Time for which the question may stay open.
        timeout: Duration,
    },
    /// Drops a task: its result is no longer needed.
    Drop(TaskId),
    /// Asks a call to end. It is still waited for: the driver reports its result.
    Cancel(TaskId),
    /// Publishes news of a step.
    Tell(StepNews),
    /// Ends the run; no effect follows.
    Done(Box<RunOutcome>),
}

impl RunEffect {
    /// Returns the task of a call or question.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Call { task, .. } | Self::Ask { task, .. } => Some(*task),
            Self::Drop(_) | Self::Cancel(_) | Self::Tell(_) | Self::Done(_) => None,
        }
    }
}
