//! Failure policies of steps.

use std::time::Duration;

/// Policy for a failed step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Fails the workflow.
    #[default]
    Abort,
    /// Continues with the step's `defaultResults`.
    Continue,
    /// Retries the step, then fails the workflow.
    Retry {
        /// Maximum number of retries, already capped.
        count: u32,
        /// Pause before the first retry.
        delay: Duration,
    },
}
