//! Ids of a request: the one that its client or a proxy gave it, and its W3C trace id.

use std::sync::Arc;

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
        let trace = traceparent.and_then(parse_trace_id).map(str::to_owned);
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

/// Parses `version-trace-parent-flags`, in lower-case hexadecimal. An id of zeroes is invalid.
fn parse_trace_id(traceparent: &str) -> Option<&str> {
    let hex = |part: &str, len: usize| {
        part.len() == len && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let mut parts = traceparent.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // Later versions may have more parts; version 255 is invalid.
    let rest = version == "00" && parts.next().is_some();
    let well_formed = hex(version, 2) && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
    let is_nonzero = |part: &str| part.bytes().any(|byte| byte != b'0');
    (well_formed && !rest && version != "ff" && is_nonzero(trace) && is_nonzero(parent)).then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_traceparents_are_ignored() {
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(RequestIds::new(None, Some(text)).trace_id(), expected, "{text}");
        };
        check(&format!("00-{trace}-{parent}-01"), Some(trace));
        check(&format!("01-{trace}-{parent}-00-later"), Some(trace));
        check(&format!("00-{trace}-{parent}-00-later"), None);
        check(&format!("ff-{trace}-{parent}-00"), None);
        check(&format!("00-{}-{parent}-00", "0".repeat(32)), None);
        check(&format!("00-{trace}-{}-00", "0".repeat(16)), None);
        check(&format!("00-{}-{parent}-00", trace.to_uppercase()), None);
        check(&format!("00-{trace}x-{parent}-00"), None);
        check(&format!("00-{trace}-{parent}"), None);
        check("", None);
        check(&"-".repeat(10_000), None);
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
