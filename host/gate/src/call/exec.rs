//! The client's handle on one call, from request to run.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use loggia_facade::{Answer, Command, Envelope, Failure, Question};

use super::{answer_fit::AnswerFit, audit::UnstartedCall, batch, chain, durable, gate_state::GateState};
use crate::{
    access::CallOrigin,
    failures,
    flow::{CallOutcome, UnfinishedTicket},
    plan::{PlannedBatch, PlannedCall},
    run::{CallEvent, CallState, EventCursor, RunId, RunStatus, report},
    schedule::ScheduledCall,
};

/// Time after which a waiting call becomes a run, if it may: shorter than the request timeouts of clients.
pub(super) const SOFT_DEADLINE: Duration = Duration::from_secs(40);

/// Handle on one call. Dropping it cancels the call, unless it was detached.
pub struct Exec {
    stage: ExecStage,
    cursor: EventCursor,
    patience: Option<Duration>,
    /// Cuts its result, if the client reads only so much.
    fit: Option<AnswerFit>,
}

enum ExecStage {
    /// Answered without running, or ended within its first slice.
    Answered(Option<Box<Envelope>>),
    /// Not polled yet. `None` only while the first slice is polled.
    Fresh(Arc<GateState>, Option<Box<ScheduledCall>>),
    /// Spawned on a runtime; this handle waits for its events.
    Running(Arc<GateState>, FollowGuard),
    /// Detached before, and followed again.
    Attached(Arc<GateState>, RunId, FollowGuard),
    /// A run that is only observed: dropping the handle does not affect it.
    Watched(RunWatch),
    /// A run of which only the journal knows.
    Recorded(BoxFuture<'static, Envelope>),
}

/// Counts one follower of a call. Dropping the last one cancels the call, unless it was detached or became a run.
struct FollowGuard {
    state: Arc<CallState>,
    detached: bool,
}

impl FollowGuard {
    fn new(state: Arc<CallState>) -> Self {
        state.add_follower();
        Self { state, detached: false }
    }
}

impl Drop for FollowGuard {
    fn drop(&mut self) {
        let was_last = self.state.remove_follower();
        if was_last && !self.detached && !self.state.is_run() && !self.state.outlives_host() {
            self.state.cancel.cancel();
        }
    }
}

/// A `run_status` request that is answered when its run ends.
pub(super) struct RunWatch {
    pub command: Command,
    pub id: RunId,
    pub state: Arc<CallState>,
    pub include_trace: bool,
}

impl RunWatch {
    fn render(&self) -> Envelope {
        report::render_status(self.command.clone(), &self.id, &self.state, self.include_trace)
    }
}

impl Exec {
    fn with_stage(stage: ExecStage, patience: Option<Duration>) -> Self {
        Self { stage, cursor: EventCursor::default(), patience, fit: None }
    }

    /// Cuts the result for its client. An answer that is one part of a result already stays as it is.
    pub(super) fn with_fit(self, fit: Option<AnswerFit>) -> Self {
        Self { fit, ..self }
    }

    pub(super) fn answered(envelope: Envelope) -> Self {
        Self::with_stage(ExecStage::Answered(Some(Box::new(envelope))), None)
    }

    pub(super) fn attached(gate: Arc<GateState>, id: RunId, state: Arc<CallState>) -> Self {
        let patience = state.long_running.then_some(SOFT_DEADLINE);
        Self::with_stage(ExecStage::Attached(gate, id, FollowGuard::new(state)), patience)
    }

    pub(super) fn watching(watch: RunWatch) -> Self {
        Self::with_stage(ExecStage::Watched(watch), Some(SOFT_DEADLINE))
    }

    pub(super) fn recorded(answer: BoxFuture<'static, Envelope>) -> Self {
        Self::with_stage(ExecStage::Recorded(answer), None)
    }

    pub(super) fn begin_call(gate: &Arc<GateState>, origin: CallOrigin, mut planned: PlannedCall) -> Self {
        let (entry, action) = (Arc::clone(&planned.entry), planned.action);
        let recorder = durable::recorder_for(gate, &origin, &planned);
        let repeat = durable::repetition_for(gate, &origin, &mut planned);
        let state = CallState::for_call(origin, &planned).with_recorder(recorder).with_repeat(repeat);
        let state = Arc::new(state);
        gate.runs.note_recorded(&state);
        let ticket = match take_ticket(gate, &state) {
            Ok(ticket) => ticket,
            Err(failure) => {
                let outcome = CallOutcome::Busy;
                let params = &planned.params;
                UnstartedCall { state: &state, entry: &entry, action, params, outcome, failure: &failure }
                    .record(&gate.meters);
                return Self::answered(Envelope::new(planned.command, Err(failure)));
            }
        };
        let patience = patience_for(state.long_running, planned.wait);
        let future = chain::run_chain(Arc::clone(gate), Arc::clone(&state), planned);
        let future = match state.recorder().cloned() {
            None => hold_ticket(ticket, future),
            Some(recorder) => {
                hold_ticket(ticket, durable::record_outcome(Arc::clone(&state), recorder, future))
            }
        };
        Self::fresh(gate, gate.executor.prepare(state, entry, future), patience)
    }

    pub(super) fn begin_batch(gate: &Arc<GateState>, origin: CallOrigin, batch: PlannedBatch) -> Self {
        let entry = Arc::clone(&batch.entry);
        let state = Arc::new(CallState::for_batch(origin, &batch));
        let ticket = match take_ticket(gate, &state) {
            Ok(ticket) => ticket,
            Err(failure) => {
                for item in &batch.items {
                    let (action, params, outcome) = (item.action, &item.params, CallOutcome::Busy);
                    UnstartedCall {
                        state: &state,
                        entry: &entry,
                        action,
                        params,
                        outcome,
                        failure: &failure,
                    }
                    .record(&gate.meters);
                }
                return Self::answered(Envelope::new(batch.command, Err(failure)));
            }
        };
        let patience = patience_for(true, batch.wait);
        let future = batch::run_batch(Arc::clone(gate), Arc::clone(&state), batch);
        Self::fresh(gate, gate.executor.prepare(state, entry, hold_ticket(ticket, future)), patience)
    }

    fn fresh(gate: &Arc<GateState>, work: ScheduledCall, patience: Option<Duration>) -> Self {
        Self::with_stage(ExecStage::Fresh(Arc::clone(gate), Some(Box::new(work))), patience)
    }

    /// Time to wait before the call is detached as a run. `None`: wait until it ends. Zero: do not wait.
    pub fn patience(&self) -> Option<Duration> {
        self.patience
    }

    /// Returns true if the call may outlive its request.
    pub fn may_become_run(&self) -> bool {
        self.state().is_some_and(|state| state.long_running) && !matches!(self.stage, ExecStage::Watched(_))
    }

    /// Returns true while the call waits for a person.
    pub fn is_asking(&self) -> bool {
        self.state().is_some_and(|state| state.status() == RunStatus::Waiting)
    }

    /// Waits until a question is closed: answered, withdrawn, or its call ended.
    pub fn question_closed(&self, key: String) -> impl Future<Output = ()> + Send + 'static {
        let state = self.state().cloned();
        async move {
            if let Some(state) = state {
                state.wait_until_closed(&key).await;
            }
        }
    }

    /// Handle of the run that is only observed, if this is a `run_status` request.
    pub fn watched_run(&self) -> Option<RunId> {
        match &self.stage {
            ExecStage::Watched(watch) => Some(watch.id.clone()),
            _ => None,
        }
    }

    /// Waits for the next event. Cancel-safe: dropping the future loses no event. After `Done` it never resolves.
    ///
    /// The first call polls the facade inline, so the calling task must tolerate being blocked for up to two milliseconds.
    pub async fn next(&mut self) -> CallEvent {
        match (self.next_whole().await, &self.fit) {
            (CallEvent::Done(envelope), Some(fit)) => CallEvent::Done(Box::new(fit.apply(*envelope))),
            (event, _) => event,
        }
    }

    async fn next_whole(&mut self) -> CallEvent {
        if let ExecStage::Fresh(gate, work) = &mut self.stage {
            let gate = Arc::clone(gate);
            if let Some(work) = work.take() {
                let state = Arc::clone(&work.state);
                // `poll_inline` polls once and is never pending, so dropping this future cannot lose the call.
                match gate.executor.poll_inline(*work).await {
                    Ok(envelope) => {
                        self.stage = ExecStage::Answered(Some(Box::new(envelope)));
                        if let Some(progress) = state.next_progress(&mut self.cursor) {
                            return CallEvent::Progress(progress);
                        }
                    }
                    Err(work) => {
                        gate.executor.spawn(work);
                        self.stage = ExecStage::Running(gate, FollowGuard::new(state));
                    }
                }
            }
        }
        let event = match &mut self.stage {
            ExecStage::Answered(envelope) => match envelope.take() {
                Some(envelope) => return CallEvent::Done(envelope),
                None => std::future::pending().await,
            },
            ExecStage::Running(_, FollowGuard { state, .. })
            | ExecStage::Attached(_, _, FollowGuard { state, .. }) => {
                state.next_event(&mut self.cursor).await
            }
            ExecStage::Watched(watch) => match watch.state.next_event(&mut self.cursor).await {
                CallEvent::Done(_) => CallEvent::Done(Box::new(watch.render())),
                event => event,
            },
            ExecStage::Recorded(answer) => CallEvent::Done(Box::new(answer.await)),
            ExecStage::Fresh(..) => std::future::pending().await,
        };
        if matches!(event, CallEvent::Done(_)) {
            self.stage = ExecStage::Answered(None);
        }
        event
    }

    /// Records a call that becomes a run, from now on at the latest. To be awaited before its handle is given to its caller.
    pub fn persist(&self) -> impl Future<Output = ()> + Send + 'static {
        let recorded = match &self.stage {
            ExecStage::Fresh(gate, Some(work)) => Some((gate, &work.state, None)),
            ExecStage::Running(gate, follow) => Some((gate, &follow.state, None)),
            ExecStage::Attached(gate, id, follow) => Some((gate, &follow.state, Some(id))),
            _ => None,
        };
        let recorder = recorded.and_then(|(gate, state, id)| {
            if let Some(journal) = &gate.journal {
                let id = id.map_or_else(|| RunId::random().to_string(), ToString::to_string);
                state.keep(id, journal, &gate.draining);
                gate.runs.note_recorded(state);
            }
            state.recorder().cloned()
        });
        async move {
            let Some(recorder) = recorder else { return };
            if let Err(error) = recorder.persist().await {
                tracing::error!(run = recorder.run(), "a run will not survive the host: {error}");
            }
        }
    }

    /// Lets the call continue without a follower; [`Gate::attach`](super::Gate::attach) follows it again by the returned
    /// handle. `None` for a call that was answered already.
    pub fn detach(self) -> Option<RunId> {
        self.release(false).map(|(id, _)| id)
    }

    /// Turns the call into a run and renders the envelope that names its handle. A call that was answered already
    /// returns its own envelope.
    pub fn detach_as_run(mut self) -> Option<Envelope> {
        if let ExecStage::Watched(watch) = &self.stage {
            return Some(watch.render());
        }
        if let ExecStage::Answered(envelope) = &mut self.stage {
            return envelope.take().map(|envelope| *envelope);
        }
        self.release(true).map(|(id, state)| report::render_detached(&id, &state))
    }

    /// Turns the call into a run and returns its handle, for callers that report runs in their own format.
    pub fn detach_with_handle(self) -> Option<RunId> {
        self.release(true).map(|(id, _)| id)
    }

    fn release(self, as_run: bool) -> Option<(RunId, Arc<CallState>)> {
        match self.stage {
            ExecStage::Answered(_) | ExecStage::Watched(_) | ExecStage::Recorded(_) => None,
            ExecStage::Fresh(gate, work) => {
                let work = work?;
                let state = Arc::clone(&work.state);
                let id = gate.runs.register(Arc::clone(&state), as_run);
                gate.executor.spawn(*work);
                Some((id, state))
            }
            ExecStage::Running(gate, mut follow) => {
                follow.detached = true;
                Some((gate.runs.register(Arc::clone(&follow.state), as_run), Arc::clone(&follow.state)))
            }
            ExecStage::Attached(_, id, mut follow) => {
                follow.detached = true;
                if as_run {
                    follow.state.become_run();
                }
                Some((id, Arc::clone(&follow.state)))
            }
        }
    }

    /// Cancels the call: signals its facade, and drops it after a grace period.
    pub fn cancel(&self) {
        if let Some(state) = self.state() {
            state.cancel.cancel();
        }
    }

    /// Supplies answers to named questions before the call asks them.
    pub fn prepare_answers(&self, answers: impl Iterator<Item = (String, Answer)>) {
        if let Some(state) = self.state() {
            state.prepare_answers(answers);
        }
    }

    /// Answers a question. Returns false if it is not open.
    pub fn answer(&self, key: &str, answer: Answer) -> bool {
        self.state().is_some_and(|state| state.answer_question(key, answer))
    }

    /// Gives this answer to the questions that a client cannot show, and removes them.
    pub fn close_unless(
        &self,
        asks: &mut BTreeMap<String, Question>,
        is_shown: impl Fn(&Question) -> bool,
        answer: &Answer,
    ) {
        asks.retain(|key, question| {
            let keeps = is_shown(question);
            if !keeps {
                self.answer(key, answer.clone());
            }
            keeps
        });
    }

    /// Declines all questions, for clients that cannot ask a person.
    pub fn decline_all(&self, asks: &BTreeMap<String, Question>) {
        for key in asks.keys() {
            self.answer(key, Answer::Declined);
        }
    }

    fn state(&self) -> Option<&Arc<CallState>> {
        match &self.stage {
            ExecStage::Answered(_) | ExecStage::Recorded(_) => None,
            ExecStage::Fresh(_, work) => work.as_ref().map(|work| &work.state),
            ExecStage::Running(_, FollowGuard { state, .. })
            | ExecStage::Attached(_, _, FollowGuard { state, .. }) => Some(state),
            ExecStage::Watched(watch) => Some(&watch.state),
        }
    }
}

/// Counts a long-running call against its caller's quota. Other calls need no ticket.
fn take_ticket(gate: &GateState, state: &CallState) -> Result<Option<UnfinishedTicket>, Failure> {
    if !state.long_running {
        return Ok(None);
    }
    let ticket = gate.unfinished.register(state.account.as_ref(), gate.quotas);
    ticket.map_err(|now| failures::too_many_runs(now, &gate.runs.unfinished_facades(state)))
}

/// Boxes a call together with its ticket, which is released when the call ends or is dropped.
fn hold_ticket(
    ticket: Option<UnfinishedTicket>,
    call: impl Future<Output = Envelope> + Send + 'static,
) -> BoxFuture<'static, Envelope> {
    match ticket {
        // Most calls hold none. Wrapping their large future in another would move it once more.
        None => Box::pin(call),
        Some(ticket) => Box::pin(async move {
            let _held = ticket;
            call.await
        }),
    }
}

/// Decides how long a caller waits for a call.
fn patience_for(long: bool, wait: Option<bool>) -> Option<Duration> {
    match (long, wait) {
        // `wait: false` has no meaning for an action that ends within its request.
        (false, _) => None,
        (true, Some(false)) => Some(Duration::ZERO),
        (true, _) => Some(SOFT_DEADLINE),
    }
}
