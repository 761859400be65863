//! Ids of a trace as they travel between programs: W3C Trace Context.

use std::sync::Arc;

use data_encoding::HEXLOWER;

/// Bytes of a `tracestate` that is passed on; the standard asks for at least 512.
const MAX_STATE: usize = 512;

/// A span of another program, or of this one, under which spans may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// Id of the trace; never all zeroes.
    pub trace: [u8; 16],
    /// Id of the span; never all zeroes.
    pub span: [u8; 8],
    /// True if the span is recorded.
    pub is_sampled: bool,
    /// `tracestate`: data of other tracing systems, passed on as it came.
    pub state: Option<Arc<str>>,
}

impl TraceContext {
    /// Parses `traceparent` (`version-trace-span-flags`, in lower-case hexadecimal) and `tracestate`. A malformed `traceparent` is
    /// no context; a malformed `tracestate` is left out.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut parts = traceparent.split('-');
        let mut part = || parts.next();
        let [version] = parse_hex(part()?)?;
        let (trace, span, [flags]) = (parse_hex(part()?)?, parse_hex(part()?)?, parse_hex(part()?)?);
        // Later versions may have more parts; version 255 is invalid.
        let is_known = version != 0xff && (version > 0 || part().is_none());
        let is_valid = is_known && trace != [0; 16] && span != [0; 8];
        let state = tracestate.filter(|state| is_state(state)).map(Arc::from);
        is_valid.then_some(Self { trace, span, is_sampled: flags & 1 == 1, state })
    }

    /// Formats `traceparent`.
    pub fn traceparent(&self) -> String {
        let flags = u8::from(self.is_sampled);
        format!("00-{}-{}-{flags:02x}", HEXLOWER.encode(&self.trace), HEXLOWER.encode(&self.span))
    }

    /// Formats the id of the trace.
    pub fn trace_id(&self) -> String {
        HEXLOWER.encode(&self.trace)
    }
}

/// Parses exactly `N` bytes in lower-case hexadecimal.
fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

fn is_state(state: &str) -> bool {
    !state.is_empty() && state.len() <= MAX_STATE && state.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn malformed_contexts_are_ignored() {
        let check = |text: &str, expected: Option<bool>| {
            let found = TraceContext::parse(text, None);
            assert_eq!(found.as_ref().map(|context| context.is_sampled), expected, "{text}");
            assert!(found.is_none_or(|context| context.trace_id() == TRACE));
        };
        check(&format!("00-{TRACE}-{SPAN}-01"), Some(true));
        check(&format!("00-{TRACE}-{SPAN}-02"), Some(false));
        check(&format!("01-{TRACE}-{SPAN}-00-later"), Some(false));
        check(&format!("00-{TRACE}-{SPAN}-00-later"), None);
        check(&format!("ff-{TRACE}-{SPAN}-00"), None);
        check(&format!("00-{}-{SPAN}-00", "0".repeat(32)), None);
        check(&format!("00-{TRACE}-{}-00", "0".repeat(16)), None);
        check(&format!("00-{}-{SPAN}-00", TRACE.to_uppercase()), None);
        check(&format!("00-{TRACE}x-{SPAN}-00"), None);
        check(&format!("00-{TRACE}-{SPAN}"), None);
        check("", None);
        check(&"-".repeat(10_000), None);
    }

    #[test]
    fn contexts_are_written_as_they_are_read() {
        let text = format!("00-{TRACE}-{SPAN}-01");
        let states = [("a=1,b=2", true), ("", false), ("a=\n", false), (&"x".repeat(513), false)];
        for (state, is_kept) in states {
            let context = TraceContext::parse(&text, Some(state)).unwrap();
            assert_eq!((context.traceparent(), context.state.is_some()), (text.clone(), is_kept), "{state}");
        }
    }
}
