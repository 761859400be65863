//! Ids of a request: the one that its client or a proxy gave it, and its W3C trace id.

use std::sync::Arc;

use loggia_facade::trace::TraceContext;

/// Ids of a request, for the log. Empty, without an allocation, for most requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestIds(Option<Arc<SentIds>>);

#[derive(Debug, PartialEq, Eq)]
struct SentIds {
    request_id: Option<String>,
    trace_id: Option<String>,
}

/// Maximum length of a request id, which the client chooses.
const MAX_REQUEST_ID: usize = 64;

impl RequestIds {
    /// Parses a request id and a W3C `traceparent`. Malformed ones are left out.
    pub fn new(request: Option<&str>, traceparent: Option<&str>) -> Self {
        let request = request.filter(|name| is_valid_id(name)).map(str::to_owned);
        let trace =
            traceparent.and_then(|text| TraceContext::parse(text, None)).map(|found| found.trace_id());
        if request.is_none() && trace.is_none() {
            return Self::default();
        }
        Self(Some(Arc::new(SentIds { request_id: request, trace_id: trace })))
    }

    /// Id that its client, or a proxy in front of the host, gave the request.
    pub fn request_id(&self) -> Option<&str> {
        self.0.as_ref()?.request_id.as_deref()
    }

    /// Id of its trace.
    pub fn trace_id(&self) -> Option<&str> {
        self.0.as_ref()?.trace_id.as_deref()
    }
}

fn is_valid_id(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_REQUEST_ID && name.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_traceparents_are_left_out() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let ids = |flags: &str| RequestIds::new(None, Some(&format!("00-{trace}-00f067aa0ba902b7-{flags}")));
        assert_eq!(ids("01").trace_id(), Some(trace));
        assert_eq!(ids("1").trace_id(), None);
    }

    #[test]
    fn request_ids_are_short_and_printable() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(RequestIds::new(Some(name), None).request_id(), expected, "{name}");
        };
        check("7", Some("7"));
        check("0d5c-ab", Some("0d5c-ab"));
        check("", None);
        check("a b", None);
        check("a\n", None);
        check("é", None);
        check(&"x".repeat(65), None);
    }
}
