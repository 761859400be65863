//! Output of the machine.

use std::time::Duration;

use loggia_facade::Object;

use super::{event::TaskId, news::News, outcome::RunOutcome};

/// What has to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEffect {
    /// Make a call, and tell what came of it.
    Call {
        /// Its name.
        task: TaskId,
        /// Which facade.
        facade: String,
        /// Which of its actions.
        action: String,
        /// With which parameters.
        params: Object,
        /// The same for each try of the same call in the same run.
        idempotency_key: String,
    },
    /// Put a question, and tell what the person said.
    Ask {
        /// Its name.
        task: TaskId,
        /// What is asked.
        message: String,
        /// JSON Schema of the answer.
        schema: Object,
        /// How long it may stay open.
        timeout: Duration,
    },
    /// What comes of this is of no interest any more.
    Drop(TaskId),
    /// Something worth telling.
    Tell(News),
    /// The run has ended; nothing follows.
    Done(Box<RunOutcome>),
}
