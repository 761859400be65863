//! The span of an MCP request. It continues the trace that the request names.

use std::fmt;

use axum::http::request::Parts;
use loggia_facade::trace::{ActiveSpan, ParentSpan, SpanKind, TraceContext, names};
use loggia_gate::call::Gate;
use rmcp::model::{ProtocolVersion, RequestMetaObject};

use super::handler::McpContext;

/// Method of a call.
pub(super) const CALL: &str = "tools/call";
/// Characters of a request's id, which its client chooses.
const MAX_ID: usize = 64;

/// What a span tells of its request.
pub(super) struct SpanRequest<'a> {
    pub(super) method: &'a str,
    /// Name of the tool, if it is published: a client may invent any number of others.
    pub(super) tool: Option<&'a str>,
    pub(super) id: &'a dyn fmt::Display,
    /// Revision of MCP that its client claims.
    pub(super) revision: Option<&'a ProtocolVersion>,
    /// True if it came over HTTP.
    pub(super) is_http: bool,
}

/// Begins the span of a request. `remote` is read only if spans are recorded.
pub(super) fn begin(
    gate: &Gate,
    request: &SpanRequest<'_>,
    remote: impl FnOnce() -> Option<TraceContext>,
) -> ActiveSpan {
    let Some(recorder) = gate.spans() else { return ActiveSpan::default() };
    let name = || names::request_span(request.method, request.tool);
    let mut span = ParentSpan::begin_trace(recorder, remote(), SpanKind::Server, name);
    if span.is_recorded() {
        span.set(names::MCP_METHOD, request.method);
        if request.method == CALL {
            span.set(names::OPERATION, names::EXECUTE_TOOL);
        }
        if let Some(tool) = request.tool {
            span.set(names::TOOL, tool);
        }
        // A client may claim any other.
        let known = request.revision.filter(|revision| ProtocolVersion::KNOWN_VERSIONS.contains(revision));
        if let Some(revision) = known {
            span.set(names::MCP_VERSION, revision.as_str());
        }
        let id: String = request.id.to_string().chars().take(MAX_ID).collect();
        span.set(names::REQUEST_ID, id);
        span.set(names::TRANSPORT, if request.is_http { names::TCP } else { names::PIPE });
    }
    span
}

/// Begins the span of a request that rmcp has passed on.
pub(super) fn begin_for(
    gate: &Gate,
    (method, tool): (&str, Option<&str>),
    context: &McpContext,
) -> ActiveSpan {
    if gate.spans().is_none() {
        return ActiveSpan::default();
    }
    let parts = context.extensions.get::<Parts>();
    let revision = context.protocol_version();
    let (id, revision) = (&context.id, revision.as_ref());
    let request = SpanRequest { method, tool, id, revision, is_http: parts.is_some() };
    begin(gate, &request, || {
        remote_context(Some(&context.meta), |name| parts?.headers.get(name)?.to_str().ok().map(str::to_owned))
    })
}

/// Names the tool of a call that came before its tool was published.
pub(super) fn name_tool(span: &mut ActiveSpan, tool: &str) {
    span.rename(|| names::request_span(CALL, Some(tool)));
    span.set(names::TOOL, tool);
}

/// Reads the trace that a request continues: that of the message, which is its author's, or else that of the headers, which may
/// be a proxy's.
pub(super) fn remote_context(
    meta: Option<&RequestMetaObject>,
    header: impl Fn(&str) -> Option<String>,
) -> Option<TraceContext> {
    let of_message =
        meta.and_then(|meta| TraceContext::parse(meta.get_traceparent()?, meta.get_tracestate()));
    of_message.or_else(|| TraceContext::parse(&header("traceparent")?, header("tracestate").as_deref()))
}
