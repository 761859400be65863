//! Spans, and what records them.

use std::{fmt, sync::Arc};

use super::{context::TraceContext, names};

/// Records spans. Called on the threads that serve calls, so nothing here may block.
pub trait SpanRecorder: fmt::Debug + Send + Sync + 'static {
    /// Returns the time, in nanoseconds since 1970.
    fn now(&self) -> u64;
    /// Creates the id of a trace.
    fn trace_id(&self) -> [u8; 16];
    /// Creates the id of a span.
    fn span_id(&self) -> [u8; 8];
    /// Decides whether a trace is recorded that begins here, or continues that of another program.
    fn samples(&self, trace: &[u8; 16], remote: Option<&TraceContext>) -> bool;
    /// Takes a span that has ended.
    fn record(&self, span: SpanRecord);
}

/// Role of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// A part of the work of this program.
    Internal,
    /// A request that was answered.
    Server,
    /// A request that was sent.
    Client,
}

/// Value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum SpanValue {
    /// A text.
    Text(String),
    /// A number.
    Integer(i64),
    /// A number with a fraction, such as one of seconds.
    Float(f64),
    /// Yes or no.
    Flag(bool),
}

/// A span that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanRecord {
    /// Name, of few different ones.
    pub name: String,
    /// Role.
    pub kind: SpanKind,
    /// Its own ids.
    pub context: TraceContext,
    /// Id of the span above it.
    pub parent: Option<[u8; 8]>,
    /// Start, in nanoseconds since 1970.
    pub start: u64,
    /// End, in nanoseconds since 1970.
    pub end: u64,
    /// Attributes, by their names.
    pub attributes: Vec<(&'static str, SpanValue)>,
    /// True if it failed; the attribute `error.type` says how.
    pub has_failed: bool,
}

/// The span under which others begin. Empty, without an allocation, if nothing is recorded. Cheap to clone.
#[derive(Clone, Default)]
pub struct ParentSpan(Option<Arc<SpanNode>>);

struct SpanNode {
    recorder: Arc<dyn SpanRecorder>,
    context: TraceContext,
}

/// A span that has begun. It ends when it is dropped; as cancelled, unless [`end`](Self::end) or [`fail`](Self::fail) was called.
#[derive(Default)]
pub struct ActiveSpan {
    own: ParentSpan,
    record: Option<Box<SpanRecord>>,
}

impl ParentSpan {
    /// Begins the first span of this program in a trace.
    pub fn begin_trace(
        recorder: &Arc<dyn SpanRecorder>,
        remote: Option<TraceContext>,
        kind: SpanKind,
        name: impl FnOnce() -> String,
    ) -> ActiveSpan {
        let trace = remote.as_ref().map_or_else(|| recorder.trace_id(), |remote| remote.trace);
        let is_sampled = recorder.samples(&trace, remote.as_ref());
        let (parent, state) = remote.map(|remote| (remote.span, remote.state)).unzip();
        let context = TraceContext { trace, span: recorder.span_id(), is_sampled, state: state.flatten() };
        ActiveSpan::begin(recorder, context, parent, (kind, name))
    }

    /// Begins a span under this one.
    pub fn begin(&self, kind: SpanKind, name: impl FnOnce() -> String) -> ActiveSpan {
        let Some(node) = &self.0 else { return ActiveSpan::default() };
        if !node.context.is_sampled {
            return ActiveSpan { own: self.clone(), record: None };
        }
        let context = TraceContext { span: node.recorder.span_id(), ..node.context.clone() };
        ActiveSpan::begin(&node.recorder, context, Some(node.context.span), (kind, name))
    }

    /// Returns true if nothing is traced here.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the ids under which another program may continue the trace.
    pub fn context(&self) -> Option<&TraceContext> {
        self.0.as_ref().map(|node| &node.context)
    }
}

impl fmt::Debug for ParentSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ParentSpan").field(&self.context()).finish()
    }
}

impl ActiveSpan {
    fn begin(
        recorder: &Arc<dyn SpanRecorder>,
        context: TraceContext,
        parent: Option<[u8; 8]>,
        (kind, name): (SpanKind, impl FnOnce() -> String),
    ) -> Self {
        let record = context.is_sampled.then(|| {
            let (name, context, start) = (name(), context.clone(), recorder.now());
            let attributes = Vec::new();
            let record =
                SpanRecord { name, kind, context, parent, start, end: start, attributes, has_failed: true };
            Box::new(record)
        });
        let node = SpanNode { recorder: Arc::clone(recorder), context };
        Self { own: ParentSpan(Some(Arc::new(node))), record }
    }

    /// Returns the handle under which spans within this one begin.
    pub fn as_parent(&self) -> &ParentSpan {
        &self.own
    }

    /// Returns true if attributes are recorded: they need not be computed otherwise.
    pub fn is_recorded(&self) -> bool {
        self.record.is_some()
    }

    /// Sets an attribute. The value is converted only if it is recorded.
    pub fn set(&mut self, name: &'static str, value: impl Into<SpanValue>) {
        if let Some(record) = &mut self.record {
            record.attributes.push((name, value.into()));
        }
    }

    /// Replaces the name. It is computed only if the span is recorded.
    pub fn rename(&mut self, name: impl FnOnce() -> String) {
        if let Some(record) = &mut self.record {
            record.name = name();
        }
    }

    /// Ends the span without an error.
    pub fn end(mut self) {
        self.record.iter_mut().for_each(|record| record.has_failed = false);
    }

    /// Ends the span with this `error.type`.
    pub fn fail(mut self, error: &str) {
        self.set(names::ERROR_TYPE, error);
    }

    /// Ends the span with this `error.type`, or without an error.
    pub fn finish(self, error: Option<&str>) {
        match error {
            None => self.end(),
            Some(error) => self.fail(error),
        }
    }
}

impl Drop for ActiveSpan {
    fn drop(&mut self) {
        let (Some(mut record), Some(node)) = (self.record.take(), &self.own.0) else { return };
        if record.has_failed && !record.attributes.iter().any(|(name, _)| *name == names::ERROR_TYPE) {
            record.attributes.push((names::ERROR_TYPE, names::CANCELLED.into()));
        }
        // The system's clock may have been set back meanwhile.
        record.end = node.recorder.now().max(record.start);
        node.recorder.record(*record);
    }
}

impl From<&str> for SpanValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SpanValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for SpanValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f64> for SpanValue {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

macro_rules! integers {
    ($($number:ty),*) => {$(
        impl From<$number> for SpanValue {
            fn from(number: $number) -> Self {
                Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }
    )*};
}
integers!(u16, u32, u64, usize);

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    };

    use super::*;

    /// Records into a list, with a clock and ids that count.
    #[derive(Debug, Default)]
    struct Recorded {
        next: AtomicU64,
        spans: Mutex<Vec<SpanRecord>>,
        samples: bool,
    }

    impl SpanRecorder for Recorded {
        fn now(&self) -> u64 {
            self.next.fetch_add(1, Ordering::Relaxed)
        }

        fn trace_id(&self) -> [u8; 16] {
            [7; 16]
        }

        fn span_id(&self) -> [u8; 8] {
            (self.now() + 1).to_be_bytes()
        }

        fn samples(&self, _: &[u8; 16], remote: Option<&TraceContext>) -> bool {
            remote.map_or(self.samples, |remote| remote.is_sampled)
        }

        fn record(&self, span: SpanRecord) {
            self.spans.lock().unwrap().push(span);
        }
    }

    /// Begins a trace with a child that ends in this way. Returns the spans, children first.
    fn traced(samples: bool, remote: Option<&str>, end: impl FnOnce(ActiveSpan)) -> Vec<SpanRecord> {
        let recorded = Arc::new(Recorded { samples, ..Recorded::default() });
        let recorder: Arc<dyn SpanRecorder> = recorded.clone();
        let remote = remote.and_then(|text| TraceContext::parse(text, Some("a=1")));
        let root = ParentSpan::begin_trace(&recorder, remote, SpanKind::Server, || "root".to_owned());
        assert!(root.as_parent().context().is_some());
        end(root.as_parent().begin(SpanKind::Internal, || "child".to_owned()));
        root.end();
        recorded.spans.lock().unwrap().clone()
    }

    #[test]
    fn children_continue_the_trace_of_their_parent() {
        let remote = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let spans = traced(false, Some(remote), ActiveSpan::end);
        let [child, root] = spans.as_slice() else { panic!("{spans:?}") };
        assert_eq!((child.name.as_str(), root.name.as_str()), ("child", "root"));
        assert_eq!(child.context.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!((child.context.trace, child.parent), (root.context.trace, Some(root.context.span)));
        assert_eq!(root.parent, Some([0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]));
        assert_eq!(child.context.state.as_deref(), Some("a=1"));
        assert!(child.start < child.end && root.start < child.start && child.end < root.end);
    }

    #[test]
    fn unsampled_traces_record_nothing() {
        let remote = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
        assert_eq!(traced(false, None, ActiveSpan::end), []);
        assert_eq!(traced(true, Some(remote), ActiveSpan::end), []);
        assert_eq!(traced(true, None, ActiveSpan::end).len(), 2);
    }

    #[test]
    fn spans_say_how_they_ended() {
        let error = |end: fn(ActiveSpan)| {
            let child = traced(true, None, end).remove(0);
            (child.has_failed, child.attributes)
        };
        let failed = |code: &str| (true, vec![(names::ERROR_TYPE, code.into())]);
        assert_eq!(error(ActiveSpan::end), (false, Vec::new()));
        assert_eq!(error(|span| span.fail("denied")), failed("denied"));
        assert_eq!(error(drop), failed("cancelled"));
    }

    #[test]
    fn nothing_is_computed_without_a_recorder() {
        let mut span = ParentSpan::default().begin(SpanKind::Internal, || unreachable!());
        struct Unread;
        impl From<Unread> for SpanValue {
            fn from(_: Unread) -> Self {
                unreachable!()
            }
        }
        span.set("unread", Unread);
        assert!(!span.is_recorded() && span.as_parent().is_empty());
        span.fail("unread");
    }
}
