//! Types that streams and the session table share.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};

/// List changes that a session has not sent on any of its streams. Streams of a session take turns: whoever holds the mutex
/// waits for the next change and marks it as seen, so that each change is sent once. The holder awaits only the watch
/// channel, which every catalog change wakes, and drops the lock when its session wakes.
pub type PendingChanges = Arc<Mutex<watch::Receiver<()>>>;

/// Phase of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionPhase {
    /// rmcp holds its state.
    Awake,
    /// rmcp has released its state.
    Hibernated,
    /// A request is restoring it.
    Waking,
}
