//! What streams and uses of a session share.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};

/// Changes of the list that a session has not told yet, on any of its streams: one at a time looks.
pub type PendingChanges = Arc<Mutex<watch::Receiver<()>>>;

/// Whether rmcp holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionPhase {
    /// It does.
    Awake,
    /// It does not.
    Hibernated,
    /// A request begins it anew.
    Waking,
}
