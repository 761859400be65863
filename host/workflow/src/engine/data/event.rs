//! Events of calls and questions, in the form in which the machine takes them.

use loggia_facade::{Answer, Failure, Reply, code};
use serde_json::json;

use super::{arguments::is_too_deep, reply};
use crate::engine::{
    failure::is_undone,
    model::{RunEvent, TaskId},
};

impl RunEvent {
    /// Creates the event of a reply. One that is nested too deeply is a failure.
    pub fn replied(task: TaskId, reply: Reply) -> Self {
        if is_too_deep(&reply.data) {
            return Self::Failed(task, Failure::new(code::INTERNAL, "the reply is nested too deeply"));
        }
        Self::Replied(task, reply::to_entry(reply))
    }

    /// Creates the event of a failure. Parts that no step can read are dropped.
    pub fn failed(task: TaskId, failure: Failure) -> Self {
        let details = is_undone(&failure).then(|| json!({"undone": true}));
        Self::Failed(task, Failure { details, example: None, next: None, expected: None, ..failure })
    }

    /// Creates the event of an answer. A form that is nested too deeply counts as an empty one.
    pub fn answered(task: TaskId, answer: Answer) -> Self {
        Self::Answered(
            task,
            match answer {
                Answer::Accepted(form) if is_too_deep(&form) => Answer::Accepted(json!({})),
                answer => answer,
            },
        )
    }
}
