//! Timing of requests, their spans, and their ids in the log.

use std::{borrow::Cow, mem::take, sync::Arc};

use axum::http::request::Parts;
use loggia_facade::trace::{ActiveSpan, ParentSpan, names};
use loggia_gate::{
    access::{ListId, RequestIds},
    call::{Gate, is_enabled as is_audited},
    flow::{self, OTHER_NAME},
};
use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ErrorCode},
};
use tokio::time::Instant;

use super::{
    handler::{McpContext, McpHandler},
    request_span,
};

/// Measures a request until it is dropped.
pub(super) struct OperationTimer {
    meter: Arc<flow::OperationMeters>,
    began: Instant,
    /// Error label of the response; empty for success.
    error: Cow<'static, str>,
    span: ActiveSpan,
}

impl McpHandler {
    /// Times a request of this method; it counts as successful.
    pub(super) fn time_operation(&self, method: &str, context: &McpContext) -> OperationTimer {
        let gate = &self.shared.gate;
        let meter = gate.meters().operations.get_or_insert(method);
        let span = request_span::begin_for(gate, (method, None), context);
        OperationTimer { meter, began: Instant::now(), error: "".into(), span }
    }

    /// Times a call of a tool. Unpublished names share one label, since a client may invent any number of them; the span begins
    /// with the name only if it is published.
    pub(super) fn time_tool_call(
        &self,
        name: &str,
        list: ListId,
        begin_span: impl FnOnce(Option<&str>) -> ActiveSpan,
    ) -> OperationTimer {
        let gate = &self.shared.gate;
        let known = gate.catalog().snapshot().list(list).tools.contains_key(name);
        let meter = gate.meters().tool_calls.get_or_insert(if known { name } else { OTHER_NAME });
        let span = begin_span(known.then_some(name));
        OperationTimer { meter, began: Instant::now(), error: "cancelled".into(), span }
    }
}

impl OperationTimer {
    /// Span of the request, under which the call runs.
    pub(super) fn span(&self) -> &ParentSpan {
        self.span.as_parent()
    }

    /// Names the tool of a call that came before its tool was published.
    pub(super) fn name_tool(&mut self, gate: &Gate, name: &str, list: ListId) {
        if gate.catalog().snapshot().list(list).tools.contains_key(name) {
            self.meter = gate.meters().tool_calls.get_or_insert(name);
            request_span::name_tool(&mut self.span, name);
        }
    }

    /// Records the outcome of the call.
    pub(super) fn finish(mut self, answer: &Result<CallToolResponse, ErrorData>) {
        match answer {
            Ok(CallToolResponse::Complete(result)) => self.finish_result(result),
            Ok(_) => self.error = "".into(),
            Err(error) => self.error = error.code.0.to_string().into(),
        }
    }

    /// Records a result.
    pub(super) fn finish_result(mut self, result: &CallToolResult) {
        self.error = if result.is_error == Some(true) { "tool_error".into() } else { "".into() };
    }
}

impl Drop for OperationTimer {
    fn drop(&mut self) {
        // The client reads this code: see `panic_error`.
        if std::thread::panicking() {
            self.error = ErrorCode::INTERNAL_ERROR.0.to_string().into();
        }
        self.meter.record(&self.error, self.began.elapsed());
        let mut span = take(&mut self.span);
        if let Ok(code) = self.error.parse::<i64>() {
            span.set(names::STATUS_CODE, code.to_string());
        }
        span.finish(Some(&*self.error).filter(|error| !error.is_empty()));
    }
}

/// Reads the request's ids in other systems. Skipped if nothing is audited.
pub(super) fn request_ids(context: &McpContext) -> RequestIds {
    if !is_audited() {
        return RequestIds::default();
    }
    let headers = context.extensions.get::<Parts>().map(|parts| &parts.headers);
    let header = |name: &str| headers?.get(name)?.to_str().ok();
    let id = context.id.to_string();
    // The message's trace is its author's; the header's may be a proxy's.
    let trace = context.meta.get_traceparent().or_else(|| header("traceparent"));
    RequestIds::new(Some(header("x-request-id").unwrap_or(&id)), trace)
}
