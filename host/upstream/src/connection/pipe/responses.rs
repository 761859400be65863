//! Calls that wait for their responses.

use std::collections::HashMap;

use parking_lot::Mutex;
use rmcp::model::{ErrorData, RequestId};
use serde_json::Value;
use tokio::sync::oneshot;

/// Result of a request, as JSON, or the error of the upstream.
pub(super) type PipeResponse = Result<Value, ErrorData>;

/// Requests of calls without a response, by id.
#[derive(Default)]
pub(super) struct PendingResponses {
    /// Locked for a look, never across an await.
    calls: Mutex<HashMap<RequestId, oneshot::Sender<PipeResponse>>>,
}

impl PendingResponses {
    /// Adds a request, whose response the receiver gets.
    pub(super) fn add(&self, id: RequestId) -> oneshot::Receiver<PipeResponse> {
        let (sender, receiver) = oneshot::channel();
        self.calls.lock().insert(id, sender);
        receiver
    }

    /// Removes a request, whose response has come or is of no more use.
    pub(super) fn take(&self, id: &RequestId) -> Option<oneshot::Sender<PipeResponse>> {
        self.calls.lock().remove(id)
    }
}
