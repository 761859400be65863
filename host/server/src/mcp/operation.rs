//! Timing of requests, and their ids in the log.

use std::{borrow::Cow, sync::Arc};

use axum::http::request::Parts;
use loggia_gate::{
    access::{ListId, RequestIds},
    call::is_enabled as is_audited,
    flow::{self, OTHER_NAME},
};
use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult},
};
use tokio::time::Instant;

use super::handler::{McpContext, McpHandler};

/// Measures a request until it is dropped.
pub(super) struct OperationTimer {
    meter: Arc<flow::OperationMeters>,
    began: Instant,
    /// Error label of the response; empty for success.
    error: Cow<'static, str>,
}

impl McpHandler {
    /// Times a request of this method; it counts as successful.
    pub(super) fn time_operation(&self, method: &str) -> OperationTimer {
        let meter = self.shared.gate.meters().operations.get_or_insert(method);
        OperationTimer { meter, began: Instant::now(), error: "".into() }
    }

    /// Times a call of a tool. Unpublished names share one label, since a client may invent any number of them.
    pub(super) fn time_tool_call(&self, name: &str, list: ListId) -> OperationTimer {
        let gate = &self.shared.gate;
        let known = gate.catalog().snapshot().list(list).tools.contains_key(name);
        let meter = gate.meters().tool_calls.get_or_insert(if known { name } else { OTHER_NAME });
        OperationTimer { meter, began: Instant::now(), error: "cancelled".into() }
    }
}

impl OperationTimer {
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
        self.meter.record(&self.error, self.began.elapsed());
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
