//! A call from its permit to its envelope: root calls, and nested calls.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use loggia_facade::{
    Call, Envelope, Failure, Fault, FaultKind, GuardedCall, Reply, Request, Session, Stop, code,
};
use loggia_schema::sanitise_line;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    audit,
    audit::{CallAudit, UnstartedCall},
    audit_request::AuditRequest,
    call_span, consent,
    fault_log::log_fault,
    frame::CallFrame,
    gate_state::GateState,
    login,
    peers::PeerPlan,
    port::FramePort,
    timeout::{NestedCallGuard, WallTimeout},
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
    mut planned: PlannedCall,
) -> Envelope {
    let (entry, command) = (Arc::clone(&planned.entry), planned.command.clone());
    let refuse = |failure| Envelope::new(command.clone(), Err(failure));
    let unstarted = |outcome, failure: &Failure| {
        let PlannedCall { action, ref params, .. } = planned;
        let call = UnstartedCall { state: &state, entry: &entry, action, params, outcome, failure };
        call.record(&gate.meters);
    };
    let span = call_span::begin(&gate, &state.span, &planned);
    if let Err(resting) = entry.breaker.check(&entry.surface().name) {
        tokio::time::sleep(REFUSAL_DELAY).await;
        unstarted(CallOutcome::Resting, &resting);
        call_span::refuse(span, CallOutcome::Resting);
        return refuse(resting);
    }
    if !entry.rules.invoke.is_empty() {
        // Just after the start, a facade that this call invokes may still be loading.
        gate.catalog.wait_until_admitted().await;
    }
    let permit = gate.permits.acquire_root(&entry.flow, state.permit_holder());
    let permit = match call_span::wait_for_permit(span.as_parent(), permit).await {
        Ok(permit) => permit,
        Err(busy) => {
            unstarted(CallOutcome::Busy, &busy);
            call_span::refuse(span, CallOutcome::Busy);
            return refuse(busy);
        }
    };
    let (wall, limit) = entry.rules.wall_clock(planned.action()).clone();
    let timeout = planned.timeout;
    let due = state.start_clock(timeout.map_or(wall, |asked| asked.min(wall)));
    let frame = CallFrame::root(gate, Arc::clone(&state), &planned, permit, due).with_span(span.as_parent());
    let wall_timeout = frame.wall_timeout(timeout, wall, limit);
    let audit = CallAudit::begin(&frame, &mut planned);
    let envelope = frame.answer_within(due, planned, wall_timeout).await;
    audit.end(&envelope);
    call_span::end(span, &envelope);
    envelope
}

impl CallFrame {
    /// Answers the call within its wall clock. A durable call whose clock runs out is cancelled, and may undo what it has done.
    async fn answer_within(self, due: Instant, planned: PlannedCall, timeout: WallTimeout) -> Envelope {
        let (state, command) = (Arc::clone(&self.state), planned.command.clone());
        let (cancel, cleanup) = (self.cancel.clone(), self.cleanup.clone());
        let nested_interrupted = Arc::clone(&self.nested_interrupted);
        let undone = {
            let mut answer = pin!(self.answer(planned));
            if let Some(envelope) = state.run_within(due, answer.as_mut()).await {
                return envelope;
            }
            match &cleanup {
                None => None,
                Some(cleanup) => {
                    nested_interrupted.store(true, Ordering::Relaxed);
                    cancel.cancel();
                    let ended = cleanup.finish(answer).await;
                    ended.filter(|_| cleanup.until().is_some())
                }
            }
        };
        let mut failure = timeout.into_failure();
        match undone.map(|envelope| envelope.outcome) {
            None => {}
            Some(Ok(reply)) => return Envelope::new(command, Ok(reply)),
            // What it says was undone is more useful than the advice to raise the limit.
            Some(Err(undone)) => (failure.details, failure.hint) = (undone.details, undone.hint),
        }
        Envelope::new(command, Err(failure))
    }

    /// Asks the guards, requires the login and the consent that the call needs, passes the breaker, dispatches to the facade, and asks
    /// the guards about the outcome.
    async fn answer(self, mut planned: PlannedCall) -> Envelope {
        // Held until the call ends: a facade may drop its session early, and must not release the permit with it.
        let frame = Arc::new(self);
        let entry = &frame.entry;
        let guarded = frame.unless_stopped(pin!(frame.meet_requirements(&mut planned))).await;
        let guarded = match guarded {
            Ok(guarded) => guarded,
            Err(failure) => return Envelope::new(planned.command, Err(failure)),
        };
        let pass = match entry.breaker.admit(frame.name()) {
            Ok(pass) => pass,
            Err(resting) => return Envelope::new(planned.command, Err(resting)),
        };
        let call = Call {
            id: frame.id.clone(),
            action: planned.action().name.clone(),
            params: planned.params,
            params_text: planned.params_text,
            detail: planned.detail,
            scope: frame.caller_key(),
            deadline: frame.state.deadline(frame.due).unwrap_or(frame.due).into_std(),
            idempotency_key: planned.idempotency_key,
            session: Session::new(Arc::new(FramePort(Arc::clone(&frame)))),
        };
        if frame.parent.is_none() {
            frame.state.recorder().inspect(|recorder| recorder.note_begun());
        }
        let mut dispatched = Arc::clone(&entry.facade).dispatch(call);
        let outcome = frame.unless_stopped(dispatched.as_mut()).await.map_err(|stop| match stop {
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
        let outcome = match guarded {
            Some(call) => frame.guard_outcome(call, outcome).await,
            None => outcome,
        };
        Envelope { resolved_inputs: planned.resolved, ..Envelope::new(planned.command, outcome) }
    }

    /// Asks the guards, and requires the login and the consent that the call needs. What few calls need is boxed: each call has room
    /// for the rest, and copies it when it begins.
    async fn meet_requirements(&self, planned: &mut PlannedCall) -> Result<Option<GuardedCall>, Failure> {
        // First, so that a person consents to what runs.
        let guarded = self.guard_call(planned).await?;
        login::require_login(self, planned.login_code.as_deref()).await?;
        if self.entry.contract.needs_confirmation(&planned.action().name) {
            Box::pin(consent::require_consent(self, planned)).await?;
        }
        Ok(guarded)
    }

    /// Runs a part of the call, unless the call asked a question and may not resume: what asked does not get to handle that.
    async fn unless_stopped<T, E: From<Failure>>(
        &self,
        mut part: Pin<&mut (impl Future<Output = Result<T, E>> + ?Sized)>,
    ) -> Result<T, E> {
        poll_fn(|context| match part.as_mut().poll(context) {
            Poll::Pending => match self.stop_reason.get() {
                Some(failure) => Poll::Ready(Err(failure.clone().into())),
                None => Poll::Pending,
            },
            ready => ready,
        })
        .await
    }

    /// Runs a call that is not cancelled with this one, but once `cancelled` resolves.
    pub(super) async fn answer_apart(
        self: &Arc<Self>,
        request: Request,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Reply, Stop> {
        let cancel = CancellationToken::new();
        let mut answer = pin!(self.answer_nested(request, Some(cancel.clone())));
        tokio::select! {
            biased;
            outcome = &mut answer => return outcome,
            () = cancelled => cancel.cancel(),
        }
        answer.await
    }

    /// Runs a call that this call makes, with a permit from the reserve of its depth.
    pub(super) async fn answer_nested(
        self: &Arc<Self>,
        request: Request,
        cancel: Option<CancellationToken>,
    ) -> Result<Reply, Stop> {
        let timeout = request.timeout;
        let above = if request.span.is_empty() { self.span.clone() } else { request.span.clone() };
        let audited = AuditRequest::from_input(&request.facade, &request.input);
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
        let span = call_span::begin(&self.gate, &above, &planned);
        if let Err(resting) = planned.entry.breaker.check(&planned.entry.surface().name) {
            call_span::refuse(span, CallOutcome::Resting);
            return Err(resting.into());
        }
        let guard = NestedCallGuard::new(&self.nested_interrupted);
        let turn = async {
            self.reclaim_permits().await?;
            self.gate.permits.acquire_nested(self.depth() + 1, self.state.account.as_ref()).await
        };
        let permit = match call_span::wait_for_permit(span.as_parent(), turn).await {
            Ok(permit) => permit,
            Err(busy) => {
                guard.finish();
                call_span::refuse(span, CallOutcome::Busy);
                return Err(busy.into());
            }
        };
        let (wall, limit) = planned.entry.rules.wall_clock(planned.action()).clone();
        // The parent's clock is not applied here: it ends the parent, and this call with it.
        let own_due = self.state.start_clock(timeout.map_or(wall, |asked| asked.min(wall)));
        let frame = Self::nested(self, &planned, permit, own_due.min(self.due), cancel);
        let frame = frame.with_span(span.as_parent());
        let wall_timeout = frame.wall_timeout(timeout, wall, limit);
        let audit = CallAudit::begin(&frame, &mut planned);
        let envelope = frame.answer_within(own_due, planned, wall_timeout).await;
        audit.end(&envelope);
        call_span::end(span, &envelope);
        guard.finish();
        envelope.outcome.map_err(Stop::Failure)
    }
}
