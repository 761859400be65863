//! How long a connection may take for what.

use std::time::Duration;

/// How long a connection may take for what.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionTimeouts {
    /// The head of a request, from its first byte; of the first one, from the beginning.
    pub head: Duration,
    /// The first byte of the next request, after an answer to somebody known; after another, no longer than a head.
    pub idle: Duration,
    /// Reading some of what is sent: a client that never reads would be kept for ever.
    pub write: Duration,
}
