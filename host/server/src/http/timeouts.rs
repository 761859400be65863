//! Timeouts of a connection.

use std::time::Duration;

/// Timeouts of a connection.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionTimeouts {
    /// Receiving the head of a request, from its first byte; for the first request, from the start of the connection.
    pub head: Duration,
    /// Idle time after a response to an authenticated caller. After other responses, at most `head`.
    pub idle: Duration,
    /// Progress while sending: a client that never reads would be kept forever.
    pub write: Duration,
}
