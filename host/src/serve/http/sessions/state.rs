//! What streams and uses of a session share.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};

/// Changes of the list that a session has not told yet, on any of its streams: one at a time looks.
pub type News = Arc<Mutex<watch::Receiver<()>>>;

/// Whether rmcp holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It does.
    Awake,
    /// It does not.
    Asleep,
    /// A request begins it anew.
    Waking,
}
