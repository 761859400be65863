//! Calls of a client that waits for one response at a time, without rmcp's service; see `mcp/direct.rs`.

use rmcp::{
    RoleServer,
    model::{ClientNotification, ClientRequest, InitializeRequestParams, JsonRpcMessage},
    service::RxJsonRpcMessage,
};

use crate::{
    jsonrpc::tool_call::PlainToolCall,
    mcp::{DirectOutcome, McpHandler},
};

/// Begins calls once the client's handshake is complete.
pub struct DirectCalls {
    handler: McpHandler,
    /// From the client's `initialize`.
    client: Option<InitializeRequestParams>,
    is_initialized: bool,
}

impl DirectCalls {
    /// Creates the calls of a client before its handshake.
    pub fn new(handler: McpHandler) -> Self {
        Self { handler, client: None, is_initialized: false }
    }

    /// Follows the handshake: a message that is passed to rmcp.
    pub fn observe(&mut self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => {
                if let (ClientRequest::InitializeRequest(request), None) = (&request.request, &self.client) {
                    self.client = Some(request.params.clone());
                }
            }
            JsonRpcMessage::Notification(sent) => {
                self.is_initialized |=
                    matches!(sent.notification, ClientNotification::InitializedNotification(_));
            }
            _ => {}
        }
    }

    /// Whether calls may begin.
    pub fn are_possible(&self) -> bool {
        self.is_initialized && self.client.is_some()
    }

    /// Begins a call and takes its arguments. Never pending.
    pub async fn begin(&self, call: &mut PlainToolCall) -> DirectOutcome {
        match &self.client {
            Some(client) if self.is_initialized => {
                self.handler.begin_direct_call(call, client, (None, None), |_| None).await
            }
            _ => DirectOutcome::Declined,
        }
    }
}
