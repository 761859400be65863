//! What the two directions of a connection share, and who gets a message.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::AtomicUsize},
};

use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    model::{
        CustomResult, JsonRpcError, JsonRpcMessage, JsonRpcResponse, RequestId, ServerNotification,
        ServerResult,
    },
    service::RxJsonRpcMessage,
};

use super::responses::PendingResponses;
use crate::connection::{call_registry::CallRegistry, close_reason::CloseSignal};

/// State that reader and transport share.
pub(super) struct PipeState {
    /// Requests whose results rmcp itself reads.
    pub(super) typed: Mutex<HashSet<RequestId>>,
    /// Requests of the upstream that are not answered yet.
    pub(super) open_requests: AtomicUsize,
    /// Requests that do not come from rmcp.
    pub(super) responses: Arc<PendingResponses>,
    /// Calls whose progress the reader passes on.
    pub(super) calls: Arc<CallRegistry>,
    pub(super) signal: CloseSignal,
}

impl PipeState {
    /// Hands a message to the call that waits for it. Returns any other, which is rmcp's.
    pub(super) fn deliver(
        &self,
        message: RxJsonRpcMessage<RoleClient>,
    ) -> Option<RxJsonRpcMessage<RoleClient>> {
        let (id, response) = match message {
            JsonRpcMessage::Response(JsonRpcResponse {
                id,
                result: ServerResult::CustomResult(result),
                ..
            }) => (id, Ok(result.0)),
            JsonRpcMessage::Error(JsonRpcError { id: Some(id), error, .. }) => (id, Err(error)),
            // Not by rmcp: the response, which does not pass through it either, would overtake the progress.
            JsonRpcMessage::Notification(notification)
                if matches!(notification.notification, ServerNotification::ProgressNotification(_)) =>
            {
                if let ServerNotification::ProgressNotification(progress) = notification.notification {
                    self.calls.report(progress.params);
                }
                return None;
            }
            other => return Some(other),
        };
        match self.responses.take(&id) {
            // The call may have been dropped.
            Some(call) => {
                let _ = call.send(response);
                None
            }
            None => Some(match response {
                Ok(result) => JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(result)), id),
                Err(error) => JsonRpcMessage::error(error, Some(id)),
            }),
        }
    }
}
