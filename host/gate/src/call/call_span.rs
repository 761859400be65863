//! Spans of calls: one for each call that is permitted or refused, and one for its wait for a permit.

use loggia_facade::{
    Envelope, Failure,
    trace::{ActiveSpan, ParentSpan, SpanKind, names},
};

use super::gate_state::GateState;
use crate::{
    flow::{CallOutcome, CallPermit},
    plan::PlannedCall,
};

/// Begins the span of a call. One without a request, such as a call that starts by itself, begins a trace.
pub(super) fn begin(gate: &GateState, parent: &ParentSpan, planned: &PlannedCall) -> ActiveSpan {
    let (facade, action) = (&planned.entry.surface().name, &planned.action().name);
    let name = || names::call_span(facade, action);
    let mut span = match &gate.spans {
        Some(recorder) if parent.is_empty() => {
            ParentSpan::begin_trace(recorder, None, SpanKind::Internal, name)
        }
        _ => parent.begin(SpanKind::Internal, name),
    };
    if span.is_recorded() {
        span.set(names::FACADE, facade.as_str());
        span.set(names::ACTION, action.as_str());
        span.set(names::PLUGIN, planned.entry.origin.as_str());
    }
    span
}

/// Ends the span of a call.
pub(super) fn end(mut span: ActiveSpan, envelope: &Envelope) {
    let outcome = CallOutcome::from_result(&envelope.outcome);
    span.set(names::OUTCOME, outcome.as_str());
    span.finish(outcome.error_type());
}

/// Ends the span of a call that was refused.
pub(super) fn refuse(mut span: ActiveSpan, outcome: CallOutcome) {
    span.set(names::OUTCOME, outcome.as_str());
    span.finish(outcome.error_type());
}

/// Waits for a permit.
pub(super) async fn wait_for_permit(
    parent: &ParentSpan,
    permit: impl Future<Output = Result<CallPermit, Failure>>,
) -> Result<CallPermit, Failure> {
    let span = parent.begin(SpanKind::Internal, || names::PERMIT_SPAN.to_owned());
    let permit = permit.await;
    span.finish(permit.as_ref().err().and_then(|failure| CallOutcome::from_code(&failure.code).error_type()));
    permit
}
