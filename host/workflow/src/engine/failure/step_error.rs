//! What went wrong with a step.

use std::time::Duration;

use loggia_facade::{Failure, Object, code};

use crate::template::EvalError;

/// The code of a cause that is a template's.
pub(crate) const TEMPLATE: &str = "template_failed";
/// The code of a run whose step failed.
pub(crate) const STEP_FAILED: &str = "step_failed";

/// Why a step failed.
#[derive(Debug)]
pub(crate) struct StepError {
    /// The report's code, where this ends the run.
    pub code: &'static str,
    /// One sentence, as `.steps.<id>.error` has it.
    pub message: String,
    /// What was the matter with the call or the template.
    pub cause: Option<Failure>,
    /// What was called with.
    pub inputs: Option<Object>,
}

impl StepError {
    /// A step that failed.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { code: STEP_FAILED, message: message.into(), cause: None, inputs: None }
    }

    /// A template that came to nothing. It would again, so it is not tried again.
    pub(crate) fn template(what: &str, error: EvalError) -> Self {
        let EvalError { message, hint } = error;
        let sentence = format!("template expansion failed: {what}: {message}");
        Self { cause: Some(Failure { hint, ..Failure::new(TEMPLATE, message) }), ..Self::new(sentence) }
    }

    /// A call that failed, and was not tried again.
    pub(crate) fn call(step: &str, tool: &str, failure: Failure, inputs: Object) -> Self {
        let message = format!("tool call failed: tool {tool} in step {step}: {}", failure.message);
        Self { cause: Some(failure), inputs: Some(inputs), ..Self::new(message) }
    }

    /// A step that took too long.
    pub(crate) fn timed_out(step: &str, after: Duration, inputs: Option<Object>) -> Self {
        let message = format!("step {step} timed out after {after:?}");
        Self {
            code: code::TIMED_OUT,
            cause: Some(Failure::new(code::TIMED_OUT, format!("no answer within {after:?}"))),
            inputs,
            ..Self::new(message)
        }
    }

    /// The same, of one item of a `forEach`.
    #[must_use]
    pub(crate) fn of_item(mut self, step: &str, item: usize) -> Self {
        self.message = format!("forEach step {step} iteration {item}: {}", self.message);
        self
    }
}
