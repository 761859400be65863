//! What a facade has used so far, for whoever runs the host.

use std::time::Duration;

/// What all calls of a facade have used since it was made. Figures only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Processor time; that of calls which it makes to other facades counts for both.
    pub cpu: Duration,
    /// Requests over the network that were answered, whatever with.
    pub answered: u64,
    /// Requests that the policy did not allow.
    pub denied: u64,
    /// Requests that brought no answer.
    pub failed: u64,
}
