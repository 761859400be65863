//! Calls that end within their first slice, without rmcp's service.
//!
//! rmcp passes a message to the task of its session, from there to a task of the request, and the response back the same way:
//! for a small call, more work than the call. Therefore, the task that has read a plain `tools/call` begins the call itself. If it
//! ends in its first slice, which is no longer than two milliseconds, its response is written at once. Otherwise rmcp gets the
//! request, and its handler the call that was begun: from then on it can report progress, ask and be cancelled as any other.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
};

use futures_util::{FutureExt, poll};
use http::request::Parts;
use loggia_gate::{
    access::{CallOrigin, RequestIds},
    call::is_enabled as is_audited,
    run::CallEvent,
};
use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CallToolResponse, Extensions, InitializeRequestParams, ProtocolVersion,
        RequestMetaObject,
    },
};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{
    call::BegunCall,
    call_reference::CallReference,
    elicitation::ElicitationSupport,
    handler::{McpContext, McpHandler},
    operation::OperationTimer,
    panics::panic_error,
    request_span::{self, CALL, SpanRequest},
    view::{ClientView, ShownPages},
    wire::response_text,
};
use crate::jsonrpc::{ids::error_answer, tool_call::PlainToolCall};

/// The client of a call, from what it has said of itself.
pub enum DirectClient<'a> {
    /// Client of a session, from the `initialize` of it.
    OfSession(&'a InitializeRequestParams),
    /// Client without a session, from the metadata of its request.
    OfRequest(InitializeRequestParams),
}

impl DirectClient<'_> {
    /// Returns what the client has said of itself.
    pub fn params(&self) -> &InitializeRequestParams {
        match self {
            Self::OfSession(params) => params,
            Self::OfRequest(params) => params,
        }
    }

    /// Returns true if the client repeats the arguments of a call with its answers to questions, which are bound to them: the handler
    /// must get them then.
    pub fn repeats_arguments(&self) -> bool {
        self.elicitation().by_retry
    }

    fn has_session(&self) -> bool {
        matches!(self, Self::OfSession(_))
    }

    fn elicitation(&self) -> ElicitationSupport {
        ElicitationSupport::of_params(self.params(), !self.has_session())
    }
}

/// A call that was begun before rmcp saw its request.
struct StartedCall {
    begun: BegunCall,
    operation: OperationTimer,
}

/// Passes a call that was begun to the handler, in the extensions of its request. Dropped with them, it cancels the call.
#[derive(Clone)]
pub struct StartedCallSlot(Arc<Mutex<Option<StartedCall>>>);

impl StartedCallSlot {
    /// Extensions of a message that carry the slot.
    pub fn into_extensions(self) -> Extensions {
        let mut extensions = Extensions::new();
        extensions.insert(self);
        extensions
    }

    /// Takes the call of a request, if it was begun.
    fn take(extensions: &Extensions) -> Option<StartedCall> {
        let of_http = || extensions.get::<Parts>()?.extensions.get();
        let slot: &Self = extensions.get().or_else(of_http)?;
        slot.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for StartedCallSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StartedCallSlot")
    }
}

/// Outcome of a call without rmcp's service.
pub enum DirectOutcome {
    /// The text of the response. The token counts the call until the response is written.
    Answered(String, TaskTrackerToken),
    /// The call takes longer. Belongs into the extensions of the request, which rmcp must get.
    Started(StartedCallSlot),
    /// Nothing was begun, and the call is unchanged: rmcp must handle the request.
    Declined,
}

impl McpHandler {
    /// Answers a `tools/call` that rmcp has passed on, which may have begun before.
    pub(super) async fn answer_call(
        &self,
        request: CallToolRequestParams,
        context: &McpContext,
    ) -> Result<CallToolResponse, ErrorData> {
        let (gate, list) = (&self.shared.gate, self.view(context).list);
        let mut early = None;
        let (mut operation, begun) = match StartedCallSlot::take(&context.extensions) {
            Some(StartedCall { begun, operation }) => (operation, Some(begun)),
            None => {
                let begin = |tool: Option<&str>| {
                    early = tool.is_none().then(|| request.name.clone());
                    request_span::begin_for(gate, (CALL, tool), context)
                };
                (self.time_tool_call(&request.name, list, begin), None)
            }
        };
        let answer = self.handle_call(request, begun, context, operation.span()).await;
        // The call may have waited for its tool to be loaded.
        if let Some(name) = early {
            operation.name_tool(gate, &name, list);
        }
        operation.finish(&answer);
        answer
    }

    /// Reads the client of a call without a session. `None`: rmcp must check the request.
    pub fn client_of_call(&self, call: &PlainToolCall) -> Option<InitializeRequestParams> {
        let (meta, revision) = (call.meta.as_ref()?, ProtocolVersion::V_2026_07_28);
        if meta.protocol_version()? != revision || !self.versions.contains(&revision) {
            return None;
        }
        let (capabilities, info) = (meta.client_capabilities()?, meta.client_info().unwrap_or_default());
        Some(InitializeRequestParams::new(capabilities, info).with_protocol_version(revision))
    }

    /// Begins a call of a client whose session, if it has one, is initialized, and takes its arguments. `origin` and `view` are those
    /// of the request; `None`: the server's. Never pending: it polls the call once. A panic ends the call with an error.
    pub async fn begin_direct_call(
        &self,
        call: &mut PlainToolCall,
        direct: &DirectClient<'_>,
        of_request: (Option<&CallOrigin>, Option<ClientView>),
        header: impl Fn(&str) -> Option<String>,
    ) -> DirectOutcome {
        let begun = AssertUnwindSafe(self.try_direct_call(call, direct, of_request, header)).catch_unwind();
        begun.await.unwrap_or_else(|_| {
            let text = error_answer(serde_json::to_value(&call.id).ok(), panic_error()).to_string();
            DirectOutcome::Answered(text, self.shared.calls.token())
        })
    }

    async fn try_direct_call(
        &self,
        call: &mut PlainToolCall,
        direct: &DirectClient<'_>,
        (origin, view): (Option<&CallOrigin>, Option<ClientView>),
        header: impl Fn(&str) -> Option<String>,
    ) -> DirectOutcome {
        let PlainToolCall { id, meta, params } = call;
        let (client, has_session) = (direct.params(), direct.has_session());
        let (gate, view) = (&self.shared.gate, view.unwrap_or_else(|| self.view_in_session(client)));
        // The handler waits for tools that are still being loaded, makes tasks for clients that take them, and asks other hosts.
        if (has_session && has_own_revision(meta.as_ref()))
            || client.capabilities.supports_tasks()
            || (self.fleet.is_some() && CallReference::of_arguments(params).is_some())
            || !gate.catalog().snapshot().has_tool(view.list, &params.name)
        {
            return DirectOutcome::Declined;
        }
        let counted = self.shared.calls.token();
        let support = direct.elicitation();
        let request_ids = match is_audited() {
            true => {
                let trace = meta.as_ref().and_then(|meta| meta.get_traceparent().map(str::to_owned));
                let trace = trace.or_else(|| header("traceparent"));
                let own = header("x-request-id").unwrap_or_else(|| id.to_string());
                RequestIds::new(Some(&own), trace.as_deref())
            }
            false => RequestIds::default(),
        };
        let origin = origin.unwrap_or(&self.origin).clone();
        let operation = self.time_tool_call(&params.name, view.list, |tool| {
            let revision = Some(&client.protocol_version);
            let is_http = origin.address.is_some();
            let request = SpanRequest { method: CALL, tool, id: &*id, revision, is_http };
            request_span::begin(gate, &request, || request_span::remote_context(meta.as_ref(), &header))
        });
        let origin = origin
            .with_span(operation.span())
            .with_elicitation(support.forms)
            .with_links(support.links)
            .with_request_ids(request_ids)
            .with_list(view.list, view.client.answer_budget())
            .with_roots(self.root_source());
        let rights = origin.rights.clone();
        let view = ClientView { pages: self.shown_pages(Some(&client.capabilities)), ..view };
        let asker = (view.pages == ShownPages::Approvals).then(|| origin.clone());
        let arguments = params.arguments.take().unwrap_or_default();
        let Some(mut exec) = gate.call_tool(origin, &params.name, arguments) else {
            let error = self.missing_tool(&params.name, view.list, &rights);
            let text = error_answer(serde_json::to_value(&*id).ok(), error.clone()).to_string();
            operation.finish(&Err(error));
            return DirectOutcome::Answered(text, counted);
        };
        // A client that sent `wait: false` gets the run at once.
        let waits = exec.patience().is_none_or(|patience| !patience.is_zero());
        let event = match waits.then(|| exec.next()) {
            Some(next) => {
                let mut next = std::pin::pin!(next);
                match poll!(&mut next) {
                    Poll::Ready(event) => Some(event),
                    Poll::Pending => None,
                }
            }
            None => None,
        };
        match event {
            Some(CallEvent::Done(envelope)) => {
                let mut result = self.render_result(*envelope, &params.name, view, asker.as_ref());
                operation.finish_result(&result);
                if has_session {
                    // Older revisions do not know it.
                    result.result_type = None;
                }
                let text = response_text(id, &result).unwrap_or_else(|error| {
                    let error = ErrorData::internal_error(error.to_string(), None);
                    error_answer(serde_json::to_value(&*id).ok(), error).to_string()
                });
                DirectOutcome::Answered(text, counted)
            }
            event => {
                let begun = BegunCall { exec, event, counted, shares_text: has_session };
                let started = StartedCall { begun, operation };
                DirectOutcome::Started(StartedCallSlot(Arc::new(Mutex::new(Some(started)))))
            }
        }
    }
}

/// Returns true if a request names a revision of its own, as those without a session do.
fn has_own_revision(meta: Option<&RequestMetaObject>) -> bool {
    meta.is_some_and(|meta| meta.0.0.keys().any(|key| key.starts_with("io.modelcontextprotocol/")))
}
