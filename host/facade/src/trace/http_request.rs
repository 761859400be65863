//! Spans of HTTP requests that are sent: method, host and status, and nothing that a caller or a secret is part of.

use super::{ActiveSpan, ParentSpan, SpanKind, names};

/// Destination of a request.
pub struct RequestPeer {
    /// `http` or `https`.
    pub scheme: String,
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Begins the span of a request. `peer` is computed only if it is recorded; `None` for a request that is refused, whose host may
/// be anything.
pub fn begin_http(
    parent: &ParentSpan,
    method: &str,
    peer: impl FnOnce() -> Option<RequestPeer>,
) -> ActiveSpan {
    let method = names::http_method(method);
    let mut span = parent.begin(SpanKind::Client, || method.to_owned());
    if span.is_recorded() {
        span.set(names::HTTP_METHOD, method);
        if let Some(RequestPeer { scheme, host, port }) = peer() {
            span.set(names::SCHEME, scheme);
            span.set(names::SERVER, host);
            span.set(names::PORT, port);
        }
    }
    span
}

/// Ends the span of a request with the status of its response, or the kind of its error.
pub fn end_http(mut span: ActiveSpan, outcome: Result<u16, &str>) {
    match outcome {
        Ok(status) => {
            span.set(names::HTTP_STATUS, status);
            match status {
                400.. => span.fail(&status.to_string()),
                _ => span.end(),
            }
        }
        Err(kind) => span.fail(kind),
    }
}
