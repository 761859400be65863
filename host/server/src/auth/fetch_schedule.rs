//! Intervals of fetching keys.

use std::time::Duration;

/// Intervals of fetching keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct FetchSchedule {
    /// Interval after a successful fetch.
    pub refresh: Duration,
    /// Minimum interval between fetches that requests cause.
    pub gap: Duration,
    /// Interval after a failed fetch, while there are no keys.
    pub retry: Duration,
}
