//! Why a connection ended.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// The end of a connection, and its first reason. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct CloseSignal {
    reason: Arc<OnceLock<String>>,
    drained: CancellationToken,
    closed: CancellationToken,
}

impl CloseSignal {
    /// Keeps a reason, unless there is one already. A later one is a consequence of the first.
    pub(super) fn explain(&self, reason: impl Into<String>) {
        let _ = self.reason.set(reason.into());
    }

    /// Marks the connection as drained: no message follows, though the reason may still be unknown.
    pub(super) fn drain(&self) {
        self.drained.cancel();
    }

    /// Resolves when no message follows.
    pub(super) async fn drained(&self) {
        self.drained.cancelled().await;
    }

    /// Marks the connection as closed. Its reason is final.
    pub(super) fn close(&self) {
        self.drained.cancel();
        self.closed.cancel();
    }

    /// Whether the connection is of no more use.
    pub(super) fn is_ending(&self) -> bool {
        self.drained.is_cancelled()
    }

    /// Whether there is a reason.
    pub(super) fn is_explained(&self) -> bool {
        self.reason.get().is_some()
    }

    /// Resolves when the connection is closed.
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// The reason, for operators and callers: a fragment such as "its process ended with exit status: 1".
    pub(super) fn reason(&self) -> String {
        self.reason.get().map_or("it closed the connection", String::as_str).to_owned()
    }
}
