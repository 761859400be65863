//! How long requests take, and by which names the log knows them.

use std::{borrow::Cow, sync::Arc};

use axum::http::request::Parts;
use loggia_gate::{
    access::Mark,
    call::is_on as is_audited,
    flow::{self, OTHER},
};
use rmcp::{ErrorData, model::CallToolResponse};
use tokio::time::Instant;

use super::handler::{McpContext, McpHandler};

/// A request that is being answered, timed until this is dropped.
pub(super) struct OperationTimer {
    meter: Arc<flow::Operation>,
    began: Instant,
    /// What it is answered with.
    error: Cow<'static, str>,
}

impl McpHandler {
    /// A request of this method, which works unless it is said otherwise.
    pub(super) fn time_operation(&self, method: &str) -> OperationTimer {
        let meter = self.shared.gate.meters().operations.of(method);
        OperationTimer { meter, began: Instant::now(), error: "".into() }
    }

    /// A call to a tool. One that is not published is a name that anybody may have made up.
    pub(super) fn time_tool_call(&self, name: &str) -> OperationTimer {
        let gate = &self.shared.gate;
        let known = gate.catalog().snapshot().tools.contains_key(name);
        let meter = gate.meters().tool_calls.of(if known { name } else { OTHER });
        OperationTimer { meter, began: Instant::now(), error: "cancelled".into() }
    }
}

impl OperationTimer {
    /// It is answered with this.
    pub(super) fn finish(mut self, answer: &Result<CallToolResponse, ErrorData>) {
        self.error = match answer {
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => "tool_error".into(),
            Ok(_) => "".into(),
            Err(error) => error.code.0.to_string().into(),
        };
    }
}

impl Drop for OperationTimer {
    fn drop(&mut self) {
        self.meter.add(&self.error, self.began.elapsed());
    }
}

/// By which names a request is known elsewhere. Only looked for where somebody reads of calls.
pub(super) fn request_ids(context: &McpContext) -> Mark {
    if !is_audited() {
        return Mark::default();
    }
    let headers = context.extensions.get::<Parts>().map(|parts| &parts.headers);
    let header = |name: &str| headers?.get(name)?.to_str().ok();
    let id = context.id.to_string();
    // The header's trace is that of who sent the request on; the message's, of who wrote it.
    let trace = context.meta.get_traceparent().or_else(|| header("traceparent"));
    Mark::new(Some(header("x-request-id").unwrap_or(&id)), trace)
}
