//! Spans with the system's time and random ids.

use std::{
    fmt,
    time::{SystemTime, UNIX_EPOCH},
};

use loggia_facade::trace::{SpanRecord, SpanRecorder, TraceContext};

/// Takes spans that have ended.
pub trait SpanSink: fmt::Debug + Send + Sync + 'static {
    /// Decides whether a trace is recorded.
    fn samples(&self, trace: &[u8; 16], remote: Option<&TraceContext>) -> bool;
    /// Takes a span. Must not block.
    fn record(&self, span: SpanRecord);
}

/// Records spans into a sink.
#[derive(Debug)]
pub struct SystemRecorder<S>(pub S);

impl<S: SpanSink> SpanRecorder for SystemRecorder<S> {
    fn now(&self) -> u64 {
        nanoseconds(SystemTime::now())
    }

    fn trace_id(&self) -> [u8; 16] {
        random_id()
    }

    fn span_id(&self) -> [u8; 8] {
        random_id()
    }

    fn samples(&self, trace: &[u8; 16], remote: Option<&TraceContext>) -> bool {
        self.0.samples(trace, remote)
    }

    fn record(&self, span: SpanRecord) {
        self.0.record(span);
    }
}

/// Returns random bytes, which are not all zero.
pub(crate) fn random_id<const N: usize>() -> [u8; N] {
    let mut id = [0; N];
    // The system has random bytes: nothing of the host works without. An id of zeroes would be invalid.
    let _ = getrandom::fill(&mut id);
    if id == [0; N] { [1; N] } else { id }
}

/// Converts a time to nanoseconds since 1970.
pub(crate) fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
