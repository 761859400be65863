//! Spans of calls: one for each call that is permitted or refused, one for its wait for a permit, and one for each look of a guard.

use loggia_facade::{
    Envelope, Failure, Fault, GuardVerdict,
    trace::{ActiveSpan, ParentSpan, SpanKind, names},
};

use super::{audit::AuditedGuard, gate_state::GateState};
use crate::{
    flow::{CallOutcome, CallPermit},
    guard::GuardLook,
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

/// Begins the span of a guard's look.
pub(super) fn begin_look(parent: &ParentSpan, audited: &AuditedGuard<'_>) -> ActiveSpan {
    let guard = &audited.post.rule.name;
    let mut span = parent.begin(SpanKind::Internal, || names::guard_span(guard));
    if span.is_recorded() {
        span.set(names::GUARD, guard.as_str());
        span.set(names::MOMENT, audited.moment.as_str());
    }
    span
}

/// Ends the span of a guard's look.
pub(super) fn end_look(mut span: ActiveSpan, verdict: &Result<GuardVerdict, Fault>) {
    let look = match verdict {
        Ok(GuardVerdict::Allow) => GuardLook::Allowed,
        Ok(GuardVerdict::Replace(_)) => GuardLook::Replaced,
        Ok(GuardVerdict::Refuse(_)) => GuardLook::Refused,
        Err(_) => GuardLook::Failed,
    };
    span.set(names::OUTCOME, look.as_str());
    // A refusal is what the guard is for.
    span.finish((look == GuardLook::Failed).then_some(names::OTHER));
}
