//! Questions to a person.

use loggia_facade::Object;

use crate::template::Template;

/// A question to the person.
#[derive(Debug, Clone)]
pub struct QuestionStep {
    /// What is asked.
    pub message: Template,
    /// JSON Schema of the answer.
    pub schema: Object,
    /// What follows a no.
    pub on_decline: RefusalAction,
    /// What follows a closed form, or none in time.
    pub on_cancel: RefusalAction,
}

/// What follows a question that was not answered by yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RefusalAction {
    /// The workflow fails.
    #[default]
    Abort,
    /// It goes on.
    Continue,
    /// It ends well, and the steps that have not begun are skipped.
    SkipRemaining,
}
