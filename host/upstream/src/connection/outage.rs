//! Why an upstream is unavailable.

use std::time::Duration;

use loggia_facade::{Failure, code};
use tokio::time::Instant;

/// An upstream that cannot be called now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UpstreamOutage {
    /// A fragment such as "its process ended with exit status 1".
    pub(crate) reason: String,
    /// When it is started again; never if the host has ended it.
    pub(crate) until: Option<Instant>,
}

impl UpstreamOutage {
    /// What a caller is answered.
    pub(crate) fn to_failure(&self, upstream: &str) -> Failure {
        let failure = Failure::new(
            code::UNAVAILABLE,
            format!("the upstream of `{upstream}` is not available: {}", self.reason),
        );
        let Some(until) = self.until else {
            return failure.hint("The host no longer runs this upstream; use another tool.");
        };
        let wait = until.saturating_duration_since(Instant::now());
        let failure = Failure { retry_after_ms: u64::try_from(wait.as_millis()).ok(), ..failure };
        if wait < Duration::from_secs(1) {
            failure.hint("It is started again by the next call: try again.")
        } else {
            failure.hint(format!(
                "It is started again in {} s. If it keeps failing, its operator finds the cause in the host's log.",
                wait.as_secs()
            ))
        }
    }
}
