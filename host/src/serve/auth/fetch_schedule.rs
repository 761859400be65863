//! How often keys are fetched.

use std::time::Duration;

/// How often is looked for keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct FetchSchedule {
    /// While all is well.
    pub refresh: Duration,
    /// At least between two looks that a request asked for.
    pub gap: Duration,
    /// While there are none.
    pub retry: Duration,
}
