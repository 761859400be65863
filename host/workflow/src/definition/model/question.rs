//! Questions to a person.

use loggia_facade::Object;
use serde::{Deserialize, Serialize};

use crate::template::TextTemplate;

/// Question that a step asks a person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct QuestionStep {
    /// Message of the question.
    pub message: TextTemplate,
    /// JSON Schema of the answer.
    pub schema: Object,
    /// Action after a declined question.
    pub on_decline: RefusalAction,
    /// Action after a dismissed or unanswered question.
    pub on_cancel: RefusalAction,
}

/// Action after a question without a positive answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RefusalAction {
    /// Fails the workflow.
    #[default]
    Abort,
    /// Continues.
    Continue,
    /// Completes the workflow and skips the steps that have not begun.
    SkipRemaining,
}
