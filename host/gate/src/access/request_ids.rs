//! By which names a request is known elsewhere: to its client, to a proxy before the host, to a trace.

use std::sync::Arc;

/// The names of a request, for the log. Most requests have none, and then it costs nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark(Option<Arc<SentIds>>);

#[derive(Debug, PartialEq, Eq)]
struct SentIds {
    request_id: Option<String>,
    trace_id: Option<String>,
}

/// Characters of a request's name; whoever sent it chose it.
const MAX_REQUEST_ID: usize = 64;

impl Mark {
    /// A request of this name, that belongs to the trace of a W3C `traceparent`. What is no such name, or none that can be
    /// told, is left out.
    pub fn new(request: Option<&str>, traceparent: Option<&str>) -> Self {
        let request = request.filter(|name| is_valid_id(name)).map(str::to_owned);
        let trace = traceparent.and_then(parse_trace_id).map(str::to_owned);
        if request.is_none() && trace.is_none() {
            return Self::default();
        }
        Self(Some(Arc::new(SentIds { request_id: request, trace_id: trace })))
    }

    /// By which its client, or what stands before the host, knows it.
    pub fn request_id(&self) -> Option<&str> {
        self.0.as_ref()?.request_id.as_deref()
    }

    /// The trace that it belongs to.
    pub fn trace_id(&self) -> Option<&str> {
        self.0.as_ref()?.trace_id.as_deref()
    }
}

fn is_valid_id(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_REQUEST_ID && name.bytes().all(|byte| byte.is_ascii_graphic())
}

/// `version-trace-parent-flags`, in lower-case hexadecimal; all zeroes is no trace.
fn parse_trace_id(traceparent: &str) -> Option<&str> {
    let hex = |part: &str, len: usize| {
        part.len() == len && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let mut parts = traceparent.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // A later version may have more parts; 255 is none.
    let rest = version == "00" && parts.next().is_some();
    let well_formed = hex(version, 2) && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
    let is_one = |part: &str| part.bytes().any(|byte| byte != b'0');
    (well_formed && !rest && version != "ff" && is_one(trace) && is_one(parent)).then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_known_by_a_well_formed_traceparent_alone() {
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(Mark::new(None, Some(text)).trace_id(), expected, "{text}");
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
    fn a_request_is_known_by_a_short_plain_name_alone() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(Mark::new(Some(name), None).request_id(), expected, "{name}");
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
