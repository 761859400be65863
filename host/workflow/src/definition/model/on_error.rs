//! Failure policies of steps.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Policy for a failed step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum OnError {
    /// Fails the workflow.
    #[default]
    Abort,
    /// Continues with the step's `defaultResults`.
    Continue,
    /// Retries the step, then fails the workflow or continues.
    Retry {
        /// Maximum number of retries, already capped.
        count: u32,
        /// Pause before the first retry.
        delay: Duration,
        /// Codes of the failures that are retried; empty: all.
        on: Vec<String>,
        /// Continues with the step's `defaultResults` after the last retry.
        then_continues: bool,
    },
}

impl OnError {
    /// Returns true if the workflow continues after the step has failed for good.
    pub fn continues(&self) -> bool {
        matches!(self, Self::Continue | Self::Retry { then_continues: true, .. })
    }
}

/// What follows for a call that was interrupted by a restart, if its action is not idempotent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnknownOutcome {
    /// The call is made again, with the same idempotency key.
    Retry,
    /// A person decides whether it is made again.
    Ask,
    /// The step fails.
    Fail,
}
