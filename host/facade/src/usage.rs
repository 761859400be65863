//! Resource usage of a facade so far, for operators.

use std::time::Duration;

/// Resource usage of all calls of a facade since it was created. Figures only increase.
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
    /// Calls that ran in an instance which was made before they came.
    pub prepared: u64,
}
