//! Failure policies of steps.

use std::time::Duration;

/// What follows a step's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// The workflow fails.
    #[default]
    Abort,
    /// It goes on, with the step's `defaultResults`.
    Continue,
    /// It is tried again, and then the workflow fails.
    Retry {
        /// How often, at most; already capped.
        count: u32,
        /// How long it waits before the first time.
        delay: Duration,
    },
}
