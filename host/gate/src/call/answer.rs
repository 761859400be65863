//! A call from its permit to its envelope: root calls, and calls that a call makes.

use std::{
    future::poll_fn,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use loggia_facade::{Call, Envelope, Failure, Fault, FaultKind, Reply, Request, Session, Stop, code};
use loggia_schema::sanitise_line;

use super::{
    audit,
    audit::CallAudit,
    consent,
    fault_log::log_fault,
    frame::{CallFrame, next_call_id},
    gate_state::GateState,
    peers::PlannedPeerCall,
    port::FramePort,
    timeout::NestedCallGuard,
};
use crate::{flow::Outcome, plan::PlannedCall, run::CallState};

/// How long a refusal by a facade that rests takes.
const REFUSAL_DELAY: Duration = Duration::from_millis(50);
/// Bytes of a fault's sentence.
const MAX_FAULT_BYTES: usize = 600;

/// Runs a root call: waits for its turn, starts its clock, dispatches, makes the envelope.
pub(super) async fn answer_root(
    gate: Arc<GateState>,
    state: Arc<CallState>,
    planned: PlannedCall,
) -> Envelope {
    let (entry, command) = (Arc::clone(&planned.entry), planned.command.clone());
    let refused = |failure| Envelope::new(command.clone(), Err(failure));
    if let Err(resting) = entry.breaker.check(&entry.surface().name) {
        // Who asks again at once would keep the host as busy as with calls that run.
        tokio::time::sleep(REFUSAL_DELAY).await;
        let why = (Outcome::Resting, &resting);
        audit::record_unstarted(&state, (&entry, planned.action), why, &gate.meters);
        return refused(resting);
    }
    if !entry.rules.invoke.is_empty() {
        // Just after the start it would find a facade missing that stands there a moment later.
        gate.catalog.admitted().await;
    }
    let permit = match gate.permits.acquire_root(&entry.flow, state.permit_holder()).await {
        Ok(permit) => permit,
        Err(busy) => {
            audit::record_unstarted(&state, (&entry, planned.action), (Outcome::Busy, &busy), &gate.meters);
            return refused(busy);
        }
    };
    let meters = Arc::clone(&gate.meters);
    let (wall, limit) = entry.rules.wall(planned.action()).clone();
    let timeout = planned.timeout;
    let frame = CallFrame {
        id: next_call_id(),
        gate,
        state: Arc::clone(&state),
        entry: Arc::clone(&entry),
        action: planned.action,
        due: state.start_clock(timeout.map_or(wall, |asked| asked.min(wall))),
        parent: None,
        permit: tokio::sync::Mutex::new(Some(permit)),
        stop_reason: OnceLock::new(),
        nested_interrupted: Arc::default(),
        questions_asked: AtomicUsize::new(0),
    };
    let (due, timeout_failure) = (frame.due, frame.wall_timeout(timeout, wall, limit));
    let audit =
        CallAudit::begin((&frame.id, None), &state, (&entry, planned.action, &planned.params), &meters);
    let envelope = match state.run_within(due, frame.answer(planned)).await {
        Some(envelope) => envelope,
        None => refused(timeout_failure.into_failure()),
    };
    audit.end(&envelope);
    envelope
}

impl CallFrame {
    async fn answer(self, planned: PlannedCall) -> Envelope {
        // Held to the end: a facade may let go of its session early, and the permit must not go with it.
        let frame = Arc::new(self);
        let entry = &frame.entry;
        if entry.contract.confirms(&planned.action().name)
            && let Err(failure) = consent::require_consent(&frame, &planned).await
        {
            return Envelope::new(planned.command, Err(failure));
        }
        let pass = match entry.breaker.admit(frame.name()) {
            Ok(pass) => pass,
            Err(resting) => return Envelope::new(planned.command, Err(resting)),
        };
        let call = Call {
            id: frame.id.clone(),
            action: planned.action().name.clone(),
            params: planned.params,
            detail: planned.detail,
            scope: entry
                .caller_keys
                .as_ref()
                .and_then(|scopes| scopes.key_for(&frame.state.caller, frame.name())),
            deadline: frame.state.deadline(frame.due).unwrap_or(frame.due).into_std(),
            idempotency_key: planned.idempotency_key,
            session: Session::new(Arc::new(FramePort(Arc::clone(&frame)))),
        };
        let mut dispatched = Arc::clone(&entry.facade).dispatch(call);
        let dispatched = poll_fn(|context| match dispatched.as_mut().poll(context) {
            // It asked, and may not go on, whatever it would make of the refusal.
            Poll::Pending => match frame.stop_reason.get() {
                Some(failure) => Poll::Ready(Err(failure.clone().into())),
                None => Poll::Pending,
            },
            ready => ready,
        });
        let outcome = dispatched.await.map_err(|stop| match stop {
            // A guest's last words may stand in it.
            Stop::Fault(fault) => {
                let message = sanitise_line(&fault.message, MAX_FAULT_BYTES);
                Stop::Fault(Fault { message, ..fault })
            }
            other => other,
        });
        let fault = match &outcome {
            Err(Stop::Fault(fault)) => Some(fault),
            _ => None,
        };
        fault.iter().for_each(|fault| log_fault(fault));
        let undecided = match &outcome {
            // What it calls is polled within its own polls, so their processor time is charged to both.
            Err(Stop::Fault(fault)) => {
                fault.kind == FaultKind::Cpu && frame.nested_interrupted.load(Ordering::Relaxed)
            }
            Err(Stop::Cancelled) => true,
            _ => frame.stop_reason.get().is_some(),
        };
        if undecided {
            drop(pass);
        } else {
            pass.finish(frame.name(), fault);
        }
        let outcome = outcome.map_err(|stop: Stop| {
            let mut failure = Failure::from(stop);
            if failure.code == code::INVALID_PARAMS && failure.expected.is_none() {
                let action = &entry.surface().actions[frame.action];
                failure.expected = Some(entry.contract.signature(action).to_owned());
            }
            failure
        });
        Envelope { resolved_inputs: planned.resolved, ..Envelope::new(planned.command, outcome) }
    }

    pub(super) async fn answer_nested(self: &Arc<Self>, request: Request) -> Result<Reply, Stop> {
        let timeout = request.timeout;
        let audited = audit::AuditRequest::from_input(&request.facade, &request.input);
        let refused = |failure: Failure| {
            audit::record_denied_invoke(self, audited, &failure);
            failure
        };
        let mut planned = match self.plan_nested(request).map_err(refused)? {
            PlannedPeerCall::Answered(envelope) => return envelope.outcome.map_err(Stop::Failure),
            PlannedPeerCall::Call(planned) => *planned,
        };
        // A facade cannot agree for the person.
        planned.confirmed = false;
        planned.entry.breaker.check(&planned.entry.surface().name)?;
        let under_way = NestedCallGuard::new(&self.nested_interrupted);
        let turn = async {
            self.reclaim_permits().await?;
            self.gate.permits.acquire_nested(self.depth() + 1, self.state.account.as_ref()).await
        };
        let permit = match turn.await {
            Ok(permit) => permit,
            Err(refused) => {
                under_way.finish();
                return Err(refused.into());
            }
        };
        let entry = Arc::clone(&planned.entry);
        let (wall, limit) = entry.rules.wall(planned.action()).clone();
        let own = self.state.start_clock(timeout.map_or(wall, |asked| asked.min(wall)));
        let frame = Self {
            id: next_call_id(),
            gate: Arc::clone(&self.gate),
            state: Arc::clone(&self.state),
            entry: Arc::clone(&entry),
            action: planned.action,
            due: own.min(self.due),
            parent: Some(Arc::clone(self)),
            permit: tokio::sync::Mutex::new(Some(permit)),
            stop_reason: OnceLock::new(),
            nested_interrupted: Arc::default(),
            questions_asked: AtomicUsize::new(0),
        };
        let timeout_failure = frame.wall_timeout(timeout, wall, limit);
        let command = planned.command.clone();
        let above = (&frame.id, Some(&self.id));
        let what = (&entry, planned.action, &planned.params);
        let audit = CallAudit::begin(above, &self.state, what, &self.gate.meters);
        let envelope = match self.state.run_within(own, frame.answer(planned)).await {
            Some(envelope) => envelope,
            None => Envelope::new(command, Err(timeout_failure.into_failure())),
        };
        audit.end(&envelope);
        under_way.finish();
        envelope.outcome.map_err(Stop::Failure)
    }
}
