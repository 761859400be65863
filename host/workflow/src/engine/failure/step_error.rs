//! Reasons for which a step fails.

use std::time::Duration;

use loggia_facade::{Failure, Object, code};

use crate::template::EvalError;

/// Failure code of a template.
pub(crate) const TEMPLATE: &str = "template_failed";
/// Code of a run that a failed step ended.
pub(crate) const STEP_FAILED: &str = "step_failed";

/// Code of a call that was interrupted by a restart, and of a run that such a call ended. It is never retried, also by a
/// workflow that called this one: the effect of the call is unknown.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// Returns true if the call may have taken effect although it failed. A workflow that failed may have, unless it undid that.
pub(crate) fn is_uncertain(failure: &Failure) -> bool {
    let codes = [code::TIMED_OUT, code::CANCELLED, code::INTERNAL, INTERRUPTED, STEP_FAILED];
    codes.contains(&failure.code.as_str()) && !is_undone(failure)
}

/// Returns true if the failure is that of a saga that has undone all that it had done.
pub(crate) fn is_undone(failure: &Failure) -> bool {
    failure.details.as_ref().is_some_and(|details| details["undone"] == true)
}

/// Reason for which a step failed.
#[derive(Debug)]
pub(crate) struct StepError {
    /// Code of the report if this ends the run.
    pub code: &'static str,
    /// One sentence, shown as `.steps.<id>.error`.
    pub message: String,
    /// Failure of the call or the template.
    pub cause: Option<Failure>,
    /// Parameters of the call.
    pub inputs: Option<Object>,
}

impl StepError {
    /// Creates an error with a message alone.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { code: STEP_FAILED, message: message.into(), cause: None, inputs: None }
    }

    /// Wraps a template's error. It is never retried: it would fail again.
    pub(crate) fn from_template(what: &str, error: EvalError) -> Self {
        let EvalError { message, hint } = error;
        let sentence = format!("template expansion failed: {what}: {message}");
        Self { cause: Some(Failure { hint, ..Failure::new(TEMPLATE, message) }), ..Self::new(sentence) }
    }

    /// Wraps the final failure of a call.
    pub(crate) fn from_call(step: &str, tool: &str, failure: Failure, inputs: Object) -> Self {
        let message = format!("tool call failed: tool {tool} in step {step}: {}", failure.message);
        let code = if failure.code == INTERRUPTED { INTERRUPTED } else { STEP_FAILED };
        Self { code, cause: Some(failure), inputs: Some(inputs), ..Self::new(message) }
    }

    /// Creates a timeout error.
    pub(crate) fn timeout(step: &str, after: Duration, inputs: Option<Object>) -> Self {
        let message = format!("step {step} timed out after {after:?}");
        Self {
            code: code::TIMED_OUT,
            cause: Some(Failure::new(code::TIMED_OUT, format!("no answer within {after:?}"))),
            inputs,
            ..Self::new(message)
        }
    }

    /// Adds the item of a `forEach` to the message.
    #[must_use]
    pub(crate) fn for_item(mut self, step: &str, item: usize) -> Self {
        self.message = format!("forEach step {step} iteration {item}: {}", self.message);
        self
    }
}
