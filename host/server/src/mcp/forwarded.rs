//! Requests that concern a call of another host of the fleet: that host answers them.

use std::time::Duration;

use futures_util::{FutureExt, future::BoxFuture};
use http::request::Parts;
use loggia_gate::{access::OriginRecord, journal::RunHolder};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResponse, CallToolResult, ClientJsonRpcMessage, CreateTaskResult, ErrorCode, GetExtensions,
        InputRequiredResult, ProgressNotificationParam, ProtocolVersion, ServerJsonRpcMessage,
    },
    service::serve_directly_with_ct,
    transport::OneshotTransport,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    call_reference::CallReference,
    handler::{McpContext, McpHandler},
};
use crate::fleet::{AnswerChannel, ForwardedAnswers, ForwardedRequest, OpenRequest};

/// Time for which a request waits for a host to take up the run of one that has ended.
const TAKEOVER_WAIT: Duration = Duration::from_secs(20);
/// Time between two looks at who has the run.
const LOOK_PERIOD: Duration = Duration::from_millis(200);

/// Marks a request that another host has forwarded, which is not forwarded again.
#[derive(Clone)]
struct ForwardedMark;

impl McpHandler {
    /// Lets the host that has a call answer a request about it. Returns `None` if that is this host, or no host has it.
    pub(super) async fn ask_host<R: DeserializeOwned>(
        &self,
        call: CallReference,
        method: &str,
        params: &impl Serialize,
        context: &McpContext,
    ) -> Option<Result<R, ErrorData>> {
        let link = self.fleet.as_ref().filter(|_| !is_forwarded(context))?;
        let (gate, origin) = (&self.shared.gate, self.origin(context));
        let until = Instant::now() + TAKEOVER_WAIT;
        let CallReference { run, mut host } = call;
        host = host.filter(|host| host != link.address());
        loop {
            if gate.find_run(&run, &origin).is_ok() {
                return None;
            }
            let holder = match gate.run_holder(&run).await {
                RunHolder::Host(holder) if holder != link.address() => Some(holder),
                RunHolder::Host(_) => return None,
                RunHolder::Unclaimed => None,
                // A call that is no run. If its host has ended, so has the call.
                RunHolder::Unknown => Some(host.take()?),
            };
            if let Some(holder) = holder {
                let answer = self.forward(&holder, method, params, context).await;
                if let Some(answer) = answer {
                    return Some(answer.and_then(parse_result));
                }
            }
            if Instant::now() > until {
                return None;
            }
            tokio::select! {
                () = context.ct.cancelled() => return None,
                () = sleep(LOOK_PERIOD) => {}
            }
        }
    }

    /// Forwards a request to a host, and its progress to the client. Returns `None` if the host has ended.
    async fn forward(
        &self,
        host: &str,
        method: &str,
        params: &impl Serialize,
        context: &McpContext,
    ) -> Option<Result<Value, ErrorData>> {
        let link = self.fleet.as_ref()?;
        let mut params = serde_json::to_value(params).ok()?;
        params["_meta"] = serde_json::to_value(&context.meta).ok()?;
        let message = json!({"jsonrpc": "2.0", "id": context.id, "method": method, "params": params});
        // Clients of 2026-07-28 describe themselves in each request. The others cannot be asked from there.
        let has_session =
            context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
        let client = context.peer.peer_info().filter(|_| has_session).map(|client| {
            let mut client = (*client).clone();
            client.capabilities.elicitation = None;
            client
        });
        let origin = OriginRecord::of(&self.origin(context));
        let mut open = OpenRequest::forward(link, host, origin, client, message).await?;
        loop {
            let message = tokio::select! {
                () = context.ct.cancelled() => return Some(Ok(cancelled_result())),
                message = open.next() => message?,
            };
            let mut parts = match message {
                Value::Object(parts) => parts,
                _ => continue,
            };
            if let Some(result) = parts.remove("result") {
                return Some(Ok(result));
            }
            if let Some(error) = parts.remove("error") {
                let error = serde_json::from_value(error);
                return Some(Err(error.unwrap_or_else(|_| unreadable())));
            }
            if parts.get("method").is_some_and(|method| method == "notifications/progress")
                && let Some(params) = parts.remove("params")
                && let Ok(progress) = serde_json::from_value::<ProgressNotificationParam>(params)
            {
                // A disconnected client is noticed by the request's own token.
                let _ = context.peer.notify_progress(progress).await;
            }
        }
    }
}

/// Returns true if another host has forwarded the request.
fn is_forwarded(context: &McpContext) -> bool {
    let parts = context.extensions.get::<Parts>();
    parts.is_some_and(|parts| parts.extensions.get::<ForwardedMark>().is_some())
}

/// Result for a client that has disconnected, which rmcp discards.
fn cancelled_result() -> Value {
    json!({"content": [], "isError": true})
}

fn unreadable() -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, "the answer of another server cannot be read", None)
}

fn parse_result<R: DeserializeOwned>(result: Value) -> Result<R, ErrorData> {
    serde_json::from_value(result).map_err(|error| {
        tracing::error!("the answer of another server cannot be read: {error}");
        unreadable()
    })
}

/// Reads the result of a call, whose kind it names.
pub(super) fn to_call_response(result: Value) -> Result<CallToolResponse, ErrorData> {
    let kind = result.get("resultType").and_then(Value::as_str);
    Ok(match kind {
        Some("input_required") => {
            CallToolResponse::InputRequired(parse_result::<InputRequiredResult>(result)?)
        }
        Some("task") => CallToolResponse::Task(parse_result::<CreateTaskResult>(result)?),
        _ => CallToolResponse::Complete(parse_result::<CallToolResult>(result)?),
    })
}

impl ForwardedAnswers for McpHandler {
    fn answer(&self, request: ForwardedRequest, answered: AnswerChannel) -> BoxFuture<'static, ()> {
        answer_forwarded(self.clone(), request, answered).boxed()
    }
}

/// Answers a request as if its client had sent it to this host.
async fn answer_forwarded(handler: McpHandler, request: ForwardedRequest, answered: AnswerChannel) {
    let ForwardedRequest { origin, client, message, .. } = request;
    let Ok(mut message) = serde_json::from_value::<ClientJsonRpcMessage>(message) else { return };
    let ClientJsonRpcMessage::Request(request) = &mut message else { return };
    let (mut parts, ()) = http::Request::new(()).into_parts();
    parts.extensions.insert(origin.to_origin());
    parts.extensions.insert(ForwardedMark);
    request.request.extensions_mut().insert(parts);
    let (transport, mut messages) = OneshotTransport::<RoleServer>::new(message);
    // When it is dropped, the call is cancelled.
    let cancel = answered.cancel.clone();
    let service = serve_directly_with_ct(handler, transport, client, cancel.clone());
    tokio::spawn(async move { drop(service.waiting().await) });
    while let Some(message) = messages.recv().await {
        let is_last = matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_));
        let Ok(message) = serde_json::to_value(&message) else { break };
        if !answered.send(message).await || is_last {
            break;
        }
    }
    cancel.cancel();
}
