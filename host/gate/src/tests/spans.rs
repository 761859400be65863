//! Spans of calls.

use std::sync::Mutex;

use loggia_facade::trace::{ParentSpan, SpanKind, SpanRecord, SpanRecorder, TraceContext};

use super::{heap::allocations_of, *};

/// Keeps spans, with ids and times that count.
#[derive(Debug, Default)]
pub(super) struct KeptSpans(Mutex<(u64, Vec<SpanRecord>)>);

impl SpanRecorder for KeptSpans {
    fn now(&self) -> u64 {
        let mut kept = self.0.lock().unwrap();
        kept.0 += 1;
        kept.0
    }

    fn trace_id(&self) -> [u8; 16] {
        u128::from(self.now()).to_be_bytes()
    }

    fn span_id(&self) -> [u8; 8] {
        self.now().to_be_bytes()
    }

    fn samples(&self, _: &[u8; 16], _: Option<&TraceContext>) -> bool {
        true
    }

    fn record(&self, span: SpanRecord) {
        self.0.lock().unwrap().1.push(span);
    }
}

impl KeptSpans {
    /// Names of the spans, each below the one above it, and in the order of their beginning.
    pub(super) fn tree(&self) -> String {
        let mut spans = self.0.lock().unwrap().1.clone();
        spans.sort_by_key(|span| span.start);
        let lines = spans.iter().map(|span| {
            let above = |span: &SpanRecord| {
                spans.iter().find(|other| Some(other.context.span) == span.parent).cloned()
            };
            let depth = std::iter::successors(above(span), above).count();
            let outcome = span.attributes.iter().find(|(name, _)| *name == "error.type");
            format!("{}{} {:?}", "  ".repeat(depth), span.name, outcome.map(|(_, error)| error))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[tokio::test(start_paused = true)]
async fn calls_below_calls_are_spans_below_spans() {
    let a = puppet("a", |call| async move {
        match call.action.as_str() {
            "touch" => Err(Failure::new("gone_fishing", "not here").into()),
            _ => call.session.invoke(request("b", "look")).await,
        }
    });
    let b = puppet("b", |_| async { Err(fault("b", FaultKind::Trap).into()) });
    let spans = Arc::new(KeptSpans::default());
    let stores = GateStores { spans: Some(spans.clone()), ..GateStores::default() };
    let gate = with_stores(&gate(vec![(a, invoking(&["b:*"])), (b, FacadeRules::default())]), stores);
    let recorder: Arc<dyn SpanRecorder> = spans.clone();
    for (facade, action) in [("a", "look"), ("a", "touch"), ("a", "made-up"), ("nobody", "look")] {
        let root = ParentSpan::begin_trace(&recorder, None, SpanKind::Server, || facade.to_owned());
        let origin = CallOrigin::local().with_span(root.as_parent());
        let mut exec = gate.start(origin, request(facade, action));
        while !matches!(exec.next().await, CallEvent::Done(_)) {}
        root.end();
    }
    // One that no request leads to.
    call(&gate, request("a", "touch")).await;
    insta::assert_snapshot!(spans.tree());
}

#[test]
fn calls_without_a_recorder_allocate_no_spans() {
    let (origin, calls) = (CallOrigin::local(), 1000);
    let (parent, allocations) = allocations_of(|| {
        let mut parent = origin.span.clone();
        for _ in 0..calls {
            let mut span = parent.begin(SpanKind::Internal, || unreachable!());
            span.set("loggia.facade", "a");
            parent = span.as_parent().clone();
            span.end();
        }
        parent
    });
    assert_eq!((allocations, parent.is_empty()), (0, true));
}
