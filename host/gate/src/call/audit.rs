//! The audit trail of calls: one line for each call that ran and for each call that it made, one for each that was answered or
//! refused without running, and one for each answer of a person. Who called, from where, what, and what came of it. Values of
//! parameters and results are not in it: of parameters there is a digest, by which a call that is known can be found.
//!
//! Lines are events of the log with the target [`TARGET`]. `LOGGIA_LOG=info,loggia::audit=debug` shows them on stderr, and
//! `audit.file` keeps them in a file of their own. While neither is set, nothing is made up that only they need. Calls are
//! counted here too, whether anybody reads of them or not.

use core::net::IpAddr;
use std::{borrow::Cow, sync::Arc};

use loggia_facade::{Answer, CallId, Envelope, Failure, Input, Object, code};
use loggia_text::printable;
use serde::Serialize;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use tracing::field::display;

use super::{frame::CallFrame, gate_state::GateState};
use crate::{
    access::{Caller, Mark, Origin},
    catalog::{Entry, Slot},
    flow::{GaugeGuard, Meters, OTHER, Outcome},
    run::CallState,
};

/// The source of the lines.
pub const TARGET: &str = "loggia::audit";

/// Whether anybody reads them.
pub fn is_on() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::DEBUG)
}

/// A call that runs. Its line is told when it ends, also where it is dropped: what it did stays done.
pub(super) struct CallAudit {
    id: CallId,
    parent: Option<CallId>,
    state: Arc<CallState>,
    entry: Arc<Entry>,
    action: usize,
    params: Option<String>,
    meters: Arc<Meters>,
    began: Instant,
    emitted: bool,
    _running: GaugeGuard,
}

impl CallAudit {
    /// A call of an entry's action begins, made by the one above it.
    pub(super) fn begin(
        (id, above): (&CallId, Option<&CallId>),
        state: &Arc<CallState>,
        (entry, action, params): (&Arc<Entry>, usize, &Object),
        meters: &Arc<Meters>,
    ) -> Self {
        Self {
            id: id.clone(),
            parent: above.cloned(),
            state: Arc::clone(state),
            entry: Arc::clone(entry),
            action,
            params: is_on().then(|| digest(params)),
            meters: Arc::clone(meters),
            began: Instant::now(),
            emitted: false,
            _running: entry.counters.resolve(entry.surface(), meters).calls.running.enter(),
        }
    }

    /// It ends with this.
    pub(super) fn end(mut self, envelope: &Envelope) {
        self.emit(envelope.outcome.as_ref().err().map(|failure| failure.code.as_str()));
    }

    fn emit(&mut self, failed: Option<&str>) {
        self.emitted = true;
        let Self { id, state, entry, .. } = &*self;
        let took = self.began.elapsed();
        let counted = entry.counters.resolve(entry.surface(), &self.meters);
        counted.calls.times.add(took);
        counted.record(self.action, failed.map_or(Outcome::Ok, Outcome::of_code));
        if !is_on() {
            return;
        }
        let outcome = outcome_label(failed);
        let (facade, action) = facade_and_action(entry, self.action);
        let ms = (took.as_secs_f64() * 1e6).round() / 1e3;
        let AuditCaller { caller, address, request, trace } = AuditCaller::from_state(state);
        let from = self.parent.as_ref().map(|above| above.0.as_str());
        tracing::debug!(
            target: TARGET,
            event = "call", id = id.0, from, request, trace, caller = &*caller, address, facade, action,
            params = self.params, outcome, ms,
            "{facade}.{action}: {outcome}"
        );
    }
}

impl Drop for CallAudit {
    fn drop(&mut self) {
        if !self.emitted {
            self.emit(Some(code::CANCELLED));
        }
    }
}

/// Who calls, as a line names it.
struct AuditCaller<'a> {
    caller: Cow<'a, str>,
    address: Option<tracing::field::DisplayValue<IpAddr>>,
    request: Option<&'a str>,
    trace: Option<&'a str>,
}

impl<'a> AuditCaller<'a> {
    fn new(caller: &'a Caller, address: Option<IpAddr>, mark: &'a Mark) -> Self {
        let caller = match caller {
            Caller::Local => "(local)".into(),
            Caller::Anonymous => "(anonymous)".into(),
            Caller::Named(name) => printable(name),
        };
        Self { caller, address: address.map(display), request: mark.request_id(), trace: mark.trace_id() }
    }

    fn from_state(state: &'a CallState) -> Self {
        Self::new(&state.caller, state.address, &state.request_ids)
    }

    fn from_origin(origin: &'a Origin) -> Self {
        Self::new(&origin.caller, origin.address, &origin.request_ids)
    }
}

/// A request, as it came: of what is refused there is nothing else to tell.
pub(super) struct AuditRequest {
    tool: String,
    action: String,
    params: String,
}

impl AuditRequest {
    /// None while nobody reads of it.
    pub(super) fn from_input(tool: &str, input: &Input) -> Option<Self> {
        is_on().then(|| {
            let (action, arguments) = match input {
                Input::Action { action, params, .. } => (action.as_str(), params),
                Input::Arguments(arguments) => {
                    let named = |key: &str| arguments.get(key).and_then(|name| name.as_str());
                    (named("action").or_else(|| named("cmd")).unwrap_or_default(), arguments)
                }
            };
            Self { tool: printable_name(tool), action: printable_name(action), params: digest(arguments) }
        })
    }
}

/// Counts a request that was answered without running, and tells of it.
pub(super) fn record_answered(
    gate: &GateState,
    origin: &Origin,
    under: Option<(&String, &Slot)>,
    (request, envelope): (Option<AuditRequest>, &Envelope),
) {
    count_answered(&gate.meters, under, envelope);
    if let Some(request) = request {
        let failed = envelope.outcome.as_ref().err();
        emit_request(origin, &request, failed.map(|failure| failure.code.as_str()));
    }
}

/// Counts a call that was answered without running. What its caller wrote becomes no name of anything: it may be all there
/// is.
fn count_answered(meters: &Meters, under: Option<(&String, &Slot)>, envelope: &Envelope) {
    let outcome = Outcome::from_result(&envelope.outcome);
    let Some((facade, slot)) = under else {
        return meters.calls.of(OTHER).actions.of(OTHER).up(outcome);
    };
    let request = envelope.command.name.as_deref();
    let action = match (slot, request) {
        (_, Some(own)) if HOST_ACTIONS.contains(&own) => own,
        (Slot::Serving(entry), Some(name)) => {
            let surface = entry.surface();
            surface.actions.iter().find(|action| action.name == name).map_or(OTHER, |action| &action.name)
        }
        _ => OTHER,
    };
    meters.calls.of(facade).actions.of(action).up(outcome);
}

/// The actions that every facade has, without running.
const HOST_ACTIONS: [&str; 4] = ["describe", "run_status", "run_cancel", "batch"];

/// Tells of a call to a tool that is not there, or not for this caller. It is counted where it is answered.
pub(super) fn record_unknown_tool(origin: &Origin, request: Option<AuditRequest>) {
    if let Some(request) = request {
        emit_request(origin, &request, Some("unknown_tool"));
    }
}

fn emit_request(origin: &Origin, AuditRequest { tool, action, params }: &AuditRequest, failed: Option<&str>) {
    let AuditCaller { caller, address, request, trace } = AuditCaller::from_origin(origin);
    let event = if failed.is_some() { "refused" } else { "answered" };
    let outcome = outcome_label(failed);
    tracing::debug!(
        target: TARGET,
        event, request, trace, caller = &*caller, address, tool, action, params, outcome,
        "{tool}.{action}: {outcome}"
    );
}

/// Counts a valid call that may not run now, and tells of it: there is no permit for it, its facade rests, or its caller has
/// too many that have not ended.
pub(super) fn record_unstarted(
    state: &CallState,
    (entry, action): (&Entry, usize),
    (why, failure): (Outcome, &Failure),
    meters: &Meters,
) {
    entry.counters.resolve(entry.surface(), meters).record(action, why);
    if is_on() {
        let (facade, action) = facade_and_action(entry, action);
        let outcome = outcome_label(Some(&failure.code));
        let AuditCaller { caller, address, request, trace } = AuditCaller::from_state(state);
        tracing::debug!(
            target: TARGET,
            event = "refused", request, trace, caller = &*caller, address, facade, action, outcome,
            why = failure.message, "{facade}.{action}: {outcome}"
        );
    }
}

/// Tells of a call that a call was not allowed to make.
pub(super) fn record_denied_invoke(frame: &CallFrame, request: Option<AuditRequest>, failure: &Failure) {
    if let Some(AuditRequest { tool, action, params }) = request {
        let AuditCaller { caller, address, request, trace } = AuditCaller::from_state(&frame.state);
        let outcome = outcome_label(Some(&failure.code));
        let (by, from) = (frame.name(), frame.id.0.as_str());
        tracing::debug!(
            target: TARGET,
            event = "refused", from, request, trace, caller = &*caller, address, by, facade = tool, action, params,
            outcome, "{tool}.{action}: {outcome}"
        );
    }
}

/// Tells what a person, or nobody, said to a question of this event: `question` of the facade's own, `consent` before an
/// action runs.
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

/// The same, in one word.
pub(super) fn record_decision(frame: &CallFrame, event: &'static str, outcome: &str) {
    if is_on() {
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

/// What a facade calls its failure is its own text.
fn outcome_label(failed: Option<&str>) -> String {
    format!("{:.40}", printable(failed.unwrap_or("ok")))
}

fn facade_and_action(entry: &Entry, action: usize) -> (&str, &str) {
    let surface = entry.surface();
    (&surface.name, surface.actions.get(action).map_or("", |action| &action.name))
}

/// A name as it was sent, which may be anything.
fn printable_name(name: &str) -> String {
    printable(&name.chars().take(80).collect::<String>()).into_owned()
}

/// The first 16 bytes of SHA-256 over the JSON text, in hexadecimal.
fn digest(params: &Object) -> String {
    struct Hashed(Sha256);
    impl std::io::Write for Hashed {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut hashed = Hashed(Sha256::new());
    // JSON values always serialise, and hashing does not fail.
    let _ = params.serialize(&mut serde_json::Serializer::new(&mut hashed));
    hashed.0.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_digest_is_that_of_the_json_text() {
        let Some(params) = json!({"a": 1, "b": "x"}).as_object().cloned() else { unreachable!() };
        // printf '{"a":1,"b":"x"}' | sha256sum
        assert_eq!(digest(&params), "ecf9e98ec0641e23113ff3ce8bdc78d0");
    }

    #[test]
    fn what_was_asked_is_cut_and_printable() {
        let long = format!("x\n{}", "y".repeat(200));
        assert_eq!(printable_name(&long), format!("x\\n{}", "y".repeat(78)));
    }
}
