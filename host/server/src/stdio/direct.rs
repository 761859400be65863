//! Calls of a client that waits for one response at a time, without rmcp's service; see `mcp/direct.rs`.

use rmcp::{
    RoleServer,
    model::{ClientNotification, ClientRequest, InitializeRequestParams, JsonRpcMessage},
    service::RxJsonRpcMessage,
};

use crate::{
    jsonrpc::tool_call::PlainToolCall,
    mcp::{DirectClient, DirectOutcome, McpHandler},
};

/// Begins calls once the client has chosen its lifecycle.
pub struct DirectCalls {
    handler: McpHandler,
    lifecycle: ClientLifecycle,
}

/// What the client has chosen.
enum ClientLifecycle {
    /// Nothing yet.
    Open,
    /// A handshake has begun, with this `initialize`.
    Handshake(InitializeRequestParams),
    /// The handshake is complete.
    Session(InitializeRequestParams),
    /// The client introduces itself in each request.
    Stateless,
    /// A second choice. What the client said last counts, which rmcp knows.
    Repeated,
}

impl DirectCalls {
    /// Creates the calls of a client that has chosen nothing yet.
    pub fn new(handler: McpHandler) -> Self {
        Self { handler, lifecycle: ClientLifecycle::Open }
    }

    /// Follows a message that is passed to rmcp. `has_lifecycle` is set once the client has chosen its lifecycle.
    pub fn observe(&mut self, message: &RxJsonRpcMessage<RoleServer>, has_lifecycle: bool) {
        match (&mut self.lifecycle, message) {
            (ClientLifecycle::Open, JsonRpcMessage::Request(request)) if has_lifecycle => {
                self.lifecycle = match &request.request {
                    ClientRequest::InitializeRequest(request) => {
                        ClientLifecycle::Handshake(request.params.clone())
                    }
                    _ => ClientLifecycle::Stateless,
                };
            }
            (ClientLifecycle::Open, _) => {}
            (_, JsonRpcMessage::Request(request))
                if matches!(request.request, ClientRequest::InitializeRequest(_)) =>
            {
                self.lifecycle = ClientLifecycle::Repeated;
            }
            (ClientLifecycle::Handshake(client), JsonRpcMessage::Notification(sent))
                if matches!(sent.notification, ClientNotification::InitializedNotification(_)) =>
            {
                self.lifecycle = ClientLifecycle::Session(client.clone());
            }
            _ => {}
        }
    }

    /// Whether calls may begin.
    pub fn are_possible(&self) -> bool {
        matches!(self.lifecycle, ClientLifecycle::Session(_) | ClientLifecycle::Stateless)
    }

    /// Begins a call and takes its arguments, unless its client repeats them. Never pending.
    pub async fn begin(&self, call: &mut PlainToolCall) -> DirectOutcome {
        let client = match &self.lifecycle {
            ClientLifecycle::Session(client) => Some(DirectClient::OfSession(client)),
            ClientLifecycle::Stateless => self.handler.client_of_call(call).map(DirectClient::OfRequest),
            ClientLifecycle::Open | ClientLifecycle::Handshake(_) | ClientLifecycle::Repeated => None,
        };
        let Some(client) = client else { return DirectOutcome::Declined };
        let kept = client.repeats_arguments().then(|| call.params.arguments.clone());
        let outcome = self.handler.begin_direct_call(call, &client, (None, None), |_| None).await;
        if let Some(arguments) = kept {
            call.params.arguments = arguments;
        }
        outcome
    }
}
