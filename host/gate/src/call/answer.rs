//! A call from its permit to its envelope: root calls, and nested calls.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use loggia_facade::{Call, Envelope, Failure, Fault, FaultKind, Reply, Request, Session, Stop, code};
use loggia_schema::sanitise_line;

use super::{
    audit,
    audit::{CallAudit, UnstartedCall},
    consent,
    fault_log::log_fault,
    frame::CallFrame,
    gate_state::GateState,
    login,
    peers::PeerPlan,
    port::FramePort,
    timeout::NestedCallGuard,
};
use crate::{flow::CallOutcome, plan::PlannedCall, run::CallState};

/// Delay before a call is refused by an open breaker: a caller that retries in a tight loop would otherwise keep the
/// host as busy as calls that run.
const REFUSAL_DELAY: Duration = Duration::from_millis(50);
/// Length of a fault's message, in bytes.
const MAX_FAULT_BYTES: usize = 600;

/// Runs a root call: waits for a permit, starts the wall clock, dispatches, and makes the envelope.
pub(super) async fn answer_root(
    gate: Arc<GateState>,
    state: Arc<CallState>,
    planned: PlannedCall,
) -> Envelope {
    let (entry, command) = (Arc::clone(&planned.entry), planned.command.clone());
    let refuse = |failure| Envelope::new(command.clone(), Err(failure));
    let unstarted = |outcome, failure: &Failure| {
        let call = UnstartedCall { state: &state, entry: &entry, action: planned.action, outcome, failure };
        call.record(&gate.meters);
    };
    if let Err(resting) = entry.breaker.check(&entry.surface().name) {
        tokio::time::sleep(REFUSAL_DELAY).await;
        unstarted(CallOutcome::Resting, &resting);
        return refuse(resting);
    }
    if !entry.rules.invoke.is_empty() {
        // Just after the start, a facade that this call invokes may still be loading.
        gate.catalog.wait_until_admitted().await;
    }
    let permit = match gate.permits.acquire_root(&entry.flow, state.permit_holder()).await {
        Ok(permit) => permit,
        Err(busy) => {
            unstarted(CallOutcome::Busy, &busy);
            return refuse(busy);
        }
    };
    let (wall, limit) = entry.rules.wall_clock(planned.action()).clone();
    let timeout = planned.timeout;
    let due = state.start_clock(timeout.map_or(wall, |asked| asked.min(wall)));
    let frame = CallFrame::root(gate, Arc::clone(&state), &planned, permit, due);
    let wall_timeout = frame.wall_timeout(timeout, wall, limit);
    let audit = CallAudit::begin(&frame, &planned.params);
    let envelope = match state.run_within(due, frame.answer(planned)).await {
        Some(envelope) => envelope,
        None => refuse(wall_timeout.into_failure()),
    };
    audit.end(&envelope);
    envelope
}

impl CallFrame {
    /// Requires the login and the consent that the call needs, passes the breaker, and dispatches to the facade.
    async fn answer(self, planned: PlannedCall) -> Envelope {
        // Held until the call ends: a facade may drop its session early, and must not release the permit with it.
        let frame = Arc::new(self);
        let entry = &frame.entry;
        let required = async {
            login::require_login(&frame, planned.login_code.as_deref()).await?;
            match entry.contract.needs_confirmation(&planned.action().name) {
                true => consent::require_consent(&frame, &planned).await,
                false => Ok(()),
            }
        };
        if let Err(failure) = frame.unless_stopped(required).await {
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
            scope: frame.caller_key(),
            deadline: frame.state.deadline(frame.due).unwrap_or(frame.due).into_std(),
            idempotency_key: planned.idempotency_key,
            session: Session::new(Arc::new(FramePort(Arc::clone(&frame)))),
        };
        let dispatched = Arc::clone(&entry.facade).dispatch(call);
        let outcome = frame.unless_stopped(dispatched).await.map_err(|stop| match stop {
            // The message may quote what the guest wrote.
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
            // Nested calls are polled within this call's polls, so their CPU time is charged to both.
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

    /// Runs a part of the call, unless the call asked a question and may not resume: what asked does not get to handle that.
    async fn unless_stopped<T, E: From<Failure>>(
        &self,
        part: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut part = pin!(part);
        poll_fn(|context| match part.as_mut().poll(context) {
            Poll::Pending => match self.stop_reason.get() {
                Some(failure) => Poll::Ready(Err(failure.clone().into())),
                None => Poll::Pending,
            },
            ready => ready,
        })
        .await
    }

    /// Runs a call that this call makes, with a permit from the reserve of its depth.
    pub(super) async fn answer_nested(self: &Arc<Self>, request: Request) -> Result<Reply, Stop> {
        let timeout = request.timeout;
        let audited = audit::AuditRequest::from_input(&request.facade, &request.input);
        let refuse = |failure: Failure| {
            audit::record_denied_invoke(self, audited, &failure);
            failure
        };
        let mut planned = match self.plan_nested(request).map_err(refuse)? {
            PeerPlan::Answered(envelope) => return envelope.outcome.map_err(Stop::Failure),
            PeerPlan::Call(planned) => *planned,
        };
        // A facade cannot consent for the person, nor log in.
        (planned.confirmed, planned.login_code) = (false, None);
        planned.entry.breaker.check(&planned.entry.surface().name)?;
        let guard = NestedCallGuard::new(&self.nested_interrupted);
        let turn = async {
            self.reclaim_permits().await?;
            self.gate.permits.acquire_nested(self.depth() + 1, self.state.account.as_ref()).await
        };
        let permit = match turn.await {
            Ok(permit) => permit,
            Err(busy) => {
                guard.finish();
                return Err(busy.into());
            }
        };
        let (wall, limit) = planned.entry.rules.wall_clock(planned.action()).clone();
        // The parent's clock is not applied here: it ends the parent, and this call with it.
        let own_due = self.state.start_clock(timeout.map_or(wall, |asked| asked.min(wall)));
        let frame = Self::nested(self, &planned, permit, own_due.min(self.due));
        let wall_timeout = frame.wall_timeout(timeout, wall, limit);
        let command = planned.command.clone();
        let audit = CallAudit::begin(&frame, &planned.params);
        let envelope = match self.state.run_within(own_due, frame.answer(planned)).await {
            Some(envelope) => envelope,
            None => Envelope::new(command, Err(wall_timeout.into_failure())),
        };
        audit.end(&envelope);
        guard.finish();
        envelope.outcome.map_err(Stop::Failure)
    }
}
