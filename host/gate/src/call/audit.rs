//! The audit trail: one line for each root or nested call that ran, each request that was answered or refused without
//! running, and each answer of a person. A line names caller, address, facade, action and outcome. It holds no values of
//! parameters or results; a digest of the parameters lets an operator find a known call.
//!
//! Lines are log events with the target [`TARGET`]. `LOGGIA_LOG=info,loggia::audit=debug` shows them on stderr, and
//! `audit.file` writes them to a file. While neither is set, nothing is computed that only they need. The line of a call that ran does
//! not pass the log on its way to the file (`call_trail.rs`). Calls are counted here as
//! well, with or without an audit log.

use core::net::IpAddr;
use std::{borrow::Cow, sync::Arc};

use loggia_facade::{Answer, CallGuard, CallId, Effect, Envelope, Failure, Object, code, json::object_text};
use loggia_schema::HOST_ACTIONS;
use loggia_text::printable;
use tokio::time::Instant;
use tracing::field::display;

use super::{
    audit_request::{AuditRequest, PrintableRequest, printable_name},
    call_trail::{CallLine, ParamsDigest, TARGET, digest, is_call_logged, is_enabled},
    frame::CallFrame,
    gate_state::GateState,
};
use crate::{
    access::{CallOrigin, Caller, RequestIds},
    approval::ApprovalRecord,
    catalog::{CatalogEntry, CatalogSlot},
    flow::{CallOutcome, GateMeters, GaugeGuard, OTHER_NAME},
    guard::{GuardLook, GuardPost},
    plan::PlannedCall,
    run::CallState,
};

/// Audits one call that runs. Its line is written when it ends, also if it is dropped: its effects remain.
pub(super) struct CallAudit {
    id: CallId,
    parent: Option<CallId>,
    state: Arc<CallState>,
    entry: Arc<CatalogEntry>,
    action: usize,
    /// `None` if no line is written.
    params: Option<ParamsDigest>,
    gate: Arc<GateState>,
    began: Instant,
    emitted: bool,
    _running: GaugeGuard,
}

impl CallAudit {
    /// Starts the audit of a call. Keeps the text of its parameters for its facade, if a line needs it.
    pub(super) fn begin(frame: &CallFrame, planned: &mut PlannedCall) -> Self {
        let (entry, gate) = (&frame.entry, &frame.gate);
        let is_audited = gate.trail.is_some() || is_call_logged();
        let params = is_audited.then(|| {
            let text = object_text(&planned.params);
            let digest = ParamsDigest::new(&text);
            planned.params_text = Some(text);
            digest
        });
        Self {
            id: frame.id.clone(),
            parent: frame.parent.as_ref().map(|parent| parent.id.clone()),
            state: Arc::clone(&frame.state),
            entry: Arc::clone(entry),
            action: frame.action,
            params,
            gate: Arc::clone(gate),
            began: Instant::now(),
            emitted: false,
            _running: entry.counters.resolve(entry.surface(), &gate.meters).calls.running.track(),
        }
    }

    /// Counts the call and writes its line.
    pub(super) fn end(mut self, envelope: &Envelope) {
        self.emit(envelope.outcome.as_ref().err().map(|failure| failure.code.as_str()));
    }

    fn emit(&mut self, failed: Option<&str>) {
        self.emitted = true;
        let (took, params) = (self.began.elapsed(), self.params.take());
        let Self { state, entry, gate, .. } = &*self;
        let counters = entry.counters.resolve(entry.surface(), &gate.meters);
        counters.calls.times.record(took);
        counters.record(self.action, failed.map_or(CallOutcome::Ok, CallOutcome::from_code));
        if self.parent.is_none() {
            gate.meters.callers.get_or_insert(&caller_label(&state.caller)).record(failed.is_some());
        }
        let Some(params) = params else { return };
        let outcome = outcome_label(failed);
        let (facade, action) = facade_and_action(entry, self.action);
        let line = CallLine {
            id: &self.id.0,
            from: self.parent.as_ref().map(|parent| parent.0.as_str()),
            request: state.request_ids.request_id(),
            trace: state.request_ids.trace_id(),
            caller: &caller_label(&state.caller),
            address: state.address,
            facade,
            action,
            params,
            artifact: &entry.origin,
            policy: entry.policy.as_deref(),
            outcome: &outcome,
            took,
        };
        if is_call_logged() {
            line.log();
        }
        if let Some(trail) = &gate.trail {
            trail.write(line);
        }
    }
}

impl Drop for CallAudit {
    fn drop(&mut self) {
        if !self.emitted {
            self.emit(Some(code::CANCELLED));
        }
    }
}

/// Name of a caller in audit lines and meters.
fn caller_label(caller: &Caller) -> Cow<'_, str> {
    match caller {
        Caller::Local => "(local)".into(),
        Caller::Anonymous => "(anonymous)".into(),
        Caller::Named(name) => printable(name),
    }
}

/// Caller of a request, as an audit line names it.
struct AuditCaller<'a> {
    caller: Cow<'a, str>,
    address: Option<tracing::field::DisplayValue<IpAddr>>,
    request: Option<&'a str>,
    trace: Option<&'a str>,
}

impl<'a> AuditCaller<'a> {
    fn new(caller: &'a Caller, address: Option<IpAddr>, ids: &'a RequestIds) -> Self {
        let caller = caller_label(caller);
        Self { caller, address: address.map(display), request: ids.request_id(), trace: ids.trace_id() }
    }

    fn from_state(state: &'a CallState) -> Self {
        Self::new(&state.caller, state.address, &state.request_ids)
    }

    fn from_origin(origin: &'a CallOrigin) -> Self {
        Self::new(&origin.caller, origin.address, &origin.request_ids)
    }
}

/// A request that was answered without running.
pub(super) struct AnsweredRequest<'a> {
    pub(super) origin: &'a CallOrigin,
    /// The facade that was named, if the catalog has it.
    pub(super) target: Option<(&'a String, &'a CatalogSlot)>,
    /// The request as it was sent, while audit lines are written.
    pub(super) request: Option<AuditRequest>,
    pub(super) envelope: &'a Envelope,
}

impl AnsweredRequest<'_> {
    /// Counts the request and writes its line.
    pub(super) fn record(self, meters: &GateMeters) {
        count_answered(meters, self.target, self.envelope);
        if let Some(request) = self.request {
            let failed = self.envelope.outcome.as_ref().err();
            emit_request(self.origin, request, failed.map(|failure| failure.code.as_str()));
        }
    }
}

/// Counts a request by declared names only: what a client sends must not become a metric label.
fn count_answered(meters: &GateMeters, target: Option<(&String, &CatalogSlot)>, envelope: &Envelope) {
    let outcome = CallOutcome::from_result(&envelope.outcome);
    let Some((facade, slot)) = target else {
        return meters.calls.get_or_insert(OTHER_NAME).actions.get_or_insert(OTHER_NAME).increment(outcome);
    };
    let request = envelope.command.name.as_deref();
    let action = match (slot, request) {
        (_, Some(own)) if HOST_ACTIONS.contains(&own) => own,
        (CatalogSlot::Serving(entry), Some(name)) => {
            let surface = entry.surface();
            surface
                .actions
                .iter()
                .find(|action| action.name == name)
                .map_or(OTHER_NAME, |action| &action.name)
        }
        _ => OTHER_NAME,
    };
    meters.calls.get_or_insert(facade).actions.get_or_insert(action).increment(outcome);
}

/// Writes the line of a call to a tool that does not exist, or not for this caller. The MCP layer counts it.
pub(super) fn record_unknown_tool(origin: &CallOrigin, request: Option<AuditRequest>) {
    if let Some(request) = request {
        emit_request(origin, request, Some("unknown_tool"));
    }
}

fn emit_request(origin: &CallOrigin, sent: AuditRequest, failed: Option<&str>) {
    let PrintableRequest { tool, action, params } = sent.into_printable();
    let AuditCaller { caller, address, request, trace } = AuditCaller::from_origin(origin);
    let event = if failed.is_some() { "refused" } else { "answered" };
    let outcome = outcome_label(failed);
    tracing::debug!(
        target: TARGET,
        event, request, trace, caller = &*caller, address, tool, action, params, outcome = &*outcome,
        "{tool}.{action}: {outcome}"
    );
}

/// A valid call that may not run now: no permit is free, the breaker of its facade is open, or its caller has too many
/// unfinished calls.
pub(super) struct UnstartedCall<'a> {
    pub(super) state: &'a CallState,
    pub(super) entry: &'a CatalogEntry,
    pub(super) action: usize,
    pub(super) params: &'a Object,
    pub(super) outcome: CallOutcome,
    pub(super) failure: &'a Failure,
}

impl UnstartedCall<'_> {
    /// Counts the call and writes its line.
    pub(super) fn record(self, meters: &GateMeters) {
        let Self { state, entry, action, params, outcome, failure } = self;
        entry.counters.resolve(entry.surface(), meters).record(action, outcome);
        if is_enabled() {
            let (facade, action) = facade_and_action(entry, action);
            let (params, outcome) = (digest(&object_text(params)), outcome_label(Some(&failure.code)));
            let AuditCaller { caller, address, request, trace } = AuditCaller::from_state(state);
            tracing::debug!(
                target: TARGET,
                event = "refused", request, trace, caller = &*caller, address, facade, action, params,
                outcome = &*outcome, why = failure.message, "{facade}.{action}: {outcome}"
            );
        }
    }
}

/// Writes the line of a nested call that was refused.
pub(super) fn record_denied_invoke(frame: &CallFrame, request: Option<AuditRequest>, failure: &Failure) {
    if let Some(PrintableRequest { tool, action, params }) = request.map(AuditRequest::into_printable) {
        let AuditCaller { caller, address, request, trace } = AuditCaller::from_state(&frame.state);
        let outcome = outcome_label(Some(&failure.code));
        let (by, from) = (frame.name(), frame.id.0.as_str());
        tracing::debug!(
            target: TARGET,
            event = "refused", from, request, trace, caller = &*caller, address, by, facade = tool, action, params,
            outcome = &*outcome, "{tool}.{action}: {outcome}"
        );
    }
}

/// Writes the line of a person's answer, or of its absence. The event is `question` for a form of the facade's own, `link`
/// for a link, and `consent` for a confirmation before an action.
pub(super) fn record_answer(frame: &CallFrame, event: &'static str, answer: &Result<Answer, Failure>) {
    record_decision(
        frame,
        event,
        match answer {
            Ok(Answer::Accepted(_)) => "accepted",
            Ok(Answer::Declined) => "declined",
            Ok(Answer::Cancelled) => "cancelled",
            Err(failure) => &failure.code,
        },
    );
}

/// Writes the line of a decision.
pub(super) fn record_decision(frame: &CallFrame, event: &'static str, outcome: &str) {
    if is_enabled() {
        let (facade, action) = facade_and_action(&frame.entry, frame.action);
        let AuditCaller { caller, address, request, trace } = AuditCaller::from_state(&frame.state);
        let id = frame.id.0.as_str();
        tracing::debug!(
            target: TARGET,
            event, id, request, trace, caller = &*caller, address, facade, action, outcome,
            "{facade}.{action}: {event} {outcome}"
        );
    }
}

/// An approval, as an audit line names it.
pub(super) struct AuditedApproval<'a> {
    pub(super) record: &'a ApprovalRecord,
    /// Who decided.
    pub(super) by: Option<&'a str>,
}

/// Writes the line of an approval that was opened or has ended.
pub(super) fn record_approval(frame: &CallFrame, approval: &AuditedApproval<'_>, outcome: &str) {
    if is_enabled() {
        let AuditedApproval { record: ApprovalRecord { id: approval, subject, .. }, by } = approval;
        let (facade, action) = facade_and_action(&frame.entry, frame.action);
        let AuditCaller { caller, address, request, trace } = AuditCaller::from_state(&frame.state);
        let (id, by) = (frame.id.0.as_str(), by.map(printable_name));
        tracing::debug!(
            target: TARGET,
            event = "approval", id, request, trace, caller = &*caller, address, facade, action, approval, subject,
            by, outcome, "{facade}.{action}: approval {outcome}"
        );
    }
}

/// When a guard is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GuardMoment {
    Before,
    After,
}

impl GuardMoment {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }

    /// Says that an action has run, where its caller might make it again.
    pub(super) fn remains(self, effect: Effect) -> Option<&'static str> {
        let has_changed = self == Self::After && effect != Effect::Read;
        has_changed.then_some("the action was run: check what it did before calling it again")
    }
}

/// A guard that was asked, as an audit line names it.
pub(super) struct AuditedGuard<'a> {
    pub(super) post: &'a GuardPost,
    /// Digest of its artifact; `None` if it is not loaded.
    pub(super) origin: Option<&'a str>,
    pub(super) moment: GuardMoment,
    /// Parameters in place of those that were sent.
    pub(super) params: Option<&'a Object>,
}

impl<'a> AuditedGuard<'a> {
    pub(super) fn new(post: &'a GuardPost, guard: &'a dyn CallGuard, moment: GuardMoment) -> Self {
        Self { post, origin: Some(guard.origin()), moment, params: None }
    }
}

/// Counts a look of a guard, and writes the line of one that did not let a call or an outcome pass as it was.
pub(super) fn record_guard(frame: &CallFrame, audited: &AuditedGuard<'_>, look: GuardLook) {
    audited.post.record(look);
    if look != GuardLook::Allowed && is_enabled() {
        let AuditedGuard { post, origin, moment, params } = audited;
        let (guard, outcome) = (post.rule.name.as_str(), look.as_str());
        let (facade, action) = facade_and_action(&frame.entry, frame.action);
        let AuditCaller { caller, address, request, trace } = AuditCaller::from_state(&frame.state);
        let (id, moment) = (frame.id.0.as_str(), moment.as_str());
        let params = params.map(|params| digest(&object_text(params)));
        tracing::debug!(
            target: TARGET,
            event = "guard", id, request, trace, caller = &*caller, address, facade, action, guard, moment, params,
            artifact = *origin, outcome, "{facade}.{action}: guard {guard} {outcome}"
        );
    }
}

/// Shortens and escapes a failure code, which may be of the facade's own choice.
fn outcome_label(failed: Option<&str>) -> Cow<'static, str> {
    failed.map_or("ok".into(), |code| format!("{:.40}", printable(code)).into())
}

fn facade_and_action(entry: &CatalogEntry, action: usize) -> (&str, &str) {
    let surface = entry.surface();
    (&surface.name, surface.actions.get(action).map_or("", |action| &action.name))
}
