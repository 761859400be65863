//! Limits of what one call sends and receives.

use std::time::Duration;

/// Limits of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressLimits {
    /// Requests.
    pub requests: usize,
    /// Requests at once.
    pub at_once: usize,
    /// Bytes of a request's body.
    pub request: usize,
    /// Bytes of a response's body.
    pub response: usize,
    /// Time from the start of the request to the end of the response.
    pub time: Duration,
    /// Redirects that the host follows itself, each checked like a request of its own. With 0, the plugin gets the
    /// redirecting response.
    pub redirects: usize,
}

impl Default for EgressLimits {
    fn default() -> Self {
        Self {
            requests: 32,
            at_once: 6,
            request: 1 << 20,
            response: 4 << 20,
            time: Duration::from_secs(15),
            redirects: 0,
        }
    }
}
