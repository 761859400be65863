//! A call of a step, with its attempts.

use std::time::Duration;

use loggia_facade::Object;
use serde::{Deserialize, Serialize};

/// Call with its attempts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StepCallState {
    pub params: Object,
    /// Idempotency key that the file states.
    #[serde(default)]
    pub key: Option<String>,
    /// Attempt, from 0.
    pub attempt: u32,
    /// Time of the retry; `None` while an attempt is active.
    pub retry_at: Option<Duration>,
}

impl StepCallState {
    pub(crate) fn new(params: Object, key: Option<String>) -> Self {
        Self { params, key, attempt: 0, retry_at: None }
    }

    /// Returns true if this attempt is active.
    pub(crate) fn is_attempting(&self, attempt: u32) -> bool {
        self.attempt == attempt && self.retry_at.is_none()
    }
}
