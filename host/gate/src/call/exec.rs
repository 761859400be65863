//! The front side of a call: one object, from request to run.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use loggia_facade::{Answer, Command, Envelope, Failure, Question};

use super::{audit, batch, chain, gate_state::GateState};
use crate::{
    access::Origin,
    flow::{Outcome, UnfinishedTicket},
    plan::{PlannedBatch, PlannedCall},
    run::{CallState, Event, EventCursor, RunId, Status, failures, report},
    schedule::ScheduledCall,
};

/// How long a client waits for a call that may outlive its request: less than clients give a request.
const SOFT_DEADLINE: Duration = Duration::from_secs(40);

/// Follows one call. Dropping it cancels the call, unless it was detached.
pub struct Exec {
    stage: ExecStage,
    cursor: EventCursor,
    patience: Option<Duration>,
}

enum ExecStage {
    /// Answered without running, or ended within its first slice.
    Answered(Option<Box<Envelope>>),
    /// Nothing has run yet. `None` only while the first slice is polled.
    Fresh(Arc<GateState>, Option<Box<ScheduledCall>>),
    /// On the second runtime.
    Running(Arc<GateState>, FollowGuard),
    /// Detached before; ours to cancel again.
    Attached(RunId, FollowGuard),
    /// A run that somebody asks about, and that goes on whoever asks.
    Watched(RunWatch),
}

/// Cancels the call when its last follower goes away, unless the call was let go, or is known as a run.
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
        if was_last && !self.detached && !self.state.is_run() {
            self.state.cancel.cancel();
        }
    }
}

/// A question about a run, which is answered when the run has ended.
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
        Self { stage, cursor: EventCursor::default(), patience }
    }

    pub(super) fn answered(envelope: Envelope) -> Self {
        Self::with_stage(ExecStage::Answered(Some(Box::new(envelope))), None)
    }

    pub(super) fn attached(id: RunId, state: Arc<CallState>) -> Self {
        let patience = state.long_running.then_some(SOFT_DEADLINE);
        Self::with_stage(ExecStage::Attached(id, FollowGuard::new(state)), patience)
    }

    pub(super) fn watching(watch: RunWatch) -> Self {
        Self::with_stage(ExecStage::Watched(watch), Some(SOFT_DEADLINE))
    }

    pub(super) fn begin_call(gate: &Arc<GateState>, origin: Origin, planned: PlannedCall) -> Self {
        let (entry, action) = (Arc::clone(&planned.entry), planned.action);
        let state = Arc::new(CallState::for_call(origin, &planned));
        let ticket = match take_ticket(gate, &state) {
            Ok(ticket) => ticket,
            Err(failure) => {
                audit::record_unstarted(&state, (&entry, action), (Outcome::Busy, &failure), &gate.meters);
                return Self::answered(Envelope::new(planned.command, Err(failure)));
            }
        };
        let patience = patience_for(state.long_running, planned.wait);
        let future = chain::run_chain(Arc::clone(gate), Arc::clone(&state), planned);
        Self::fresh(gate, gate.executor.prepare(state, entry, hold_ticket(ticket, future)), patience)
    }

    pub(super) fn begin_batch(gate: &Arc<GateState>, origin: Origin, batch: PlannedBatch) -> Self {
        let entry = Arc::clone(&batch.entry);
        let state = Arc::new(CallState::for_batch(origin, &batch));
        let ticket = match take_ticket(gate, &state) {
            Ok(ticket) => ticket,
            Err(failure) => {
                for item in &batch.items {
                    audit::record_unstarted(
                        &state,
                        (&entry, item.action),
                        (Outcome::Busy, &failure),
                        &gate.meters,
                    );
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

    /// How long to follow the call before it is [`part`](Self::part)ed with: to its end where there is none, not at all
    /// where it is zero.
    pub fn patience(&self) -> Option<Duration> {
        self.patience
    }

    /// Whether the call may outlive its request.
    pub fn may_become_run(&self) -> bool {
        self.state().is_some_and(|state| state.long_running) && !matches!(self.stage, ExecStage::Watched(_))
    }

    /// Whether the call waits for a person.
    pub fn is_asking(&self) -> bool {
        self.state().is_some_and(|state| state.status() == Status::Waiting)
    }

    /// Resolves when a question is no longer open: it was answered, taken back, or the call has ended.
    pub fn closed(&self, key: String) -> impl Future<Output = ()> + Send + 'static {
        let state = self.state().cloned();
        async move {
            if let Some(state) = state {
                state.wait_until_closed(&key).await;
            }
        }
    }

    /// The run that is only asked about, if this is a question about one.
    pub fn watched(&self) -> Option<RunId> {
        match &self.stage {
            ExecStage::Watched(watch) => Some(watch.id.clone()),
            _ => None,
        }
    }

    /// What happens next. Must be called from a task that may be blocked for a millisecond. Dropping the future loses
    /// nothing. After `Done` it never resolves.
    pub async fn next(&mut self) -> Event {
        if let ExecStage::Fresh(gate, work) = &mut self.stage {
            let gate = Arc::clone(gate);
            if let Some(work) = work.take() {
                let state = Arc::clone(&work.state);
                // Polled once and never pending, so no drop can lose the call here.
                match gate.executor.poll_inline(*work).await {
                    Ok(envelope) => {
                        self.stage = ExecStage::Answered(Some(Box::new(envelope)));
                        if let Some(progress) = state.next_progress(&mut self.cursor) {
                            return Event::Progress(progress);
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
                Some(envelope) => return Event::Done(envelope),
                None => std::future::pending().await,
            },
            ExecStage::Running(_, FollowGuard { state, .. })
            | ExecStage::Attached(_, FollowGuard { state, .. }) => state.next_event(&mut self.cursor).await,
            ExecStage::Watched(watch) => match watch.state.next_event(&mut self.cursor).await {
                Event::Done(_) => Event::Done(Box::new(watch.render())),
                event => event,
            },
            ExecStage::Fresh(..) => std::future::pending().await,
        };
        if matches!(event, Event::Done(_)) {
            self.stage = ExecStage::Answered(None);
        }
        event
    }

    /// Lets the call go on without a follower, until somebody attaches to it by this handle. None for a call that was
    /// answered already: its envelope is all there is.
    pub fn detach(self) -> Option<RunId> {
        self.release(false).map(|(id, _)| id)
    }

    /// Stops waiting: the call goes on as a run, and the caller is told of it. A call that was answered already is told
    /// as it is.
    pub fn part(mut self) -> Option<Envelope> {
        if let ExecStage::Watched(watch) = &self.stage {
            return Some(watch.render());
        }
        if let ExecStage::Answered(envelope) = &mut self.stage {
            return envelope.take().map(|envelope| *envelope);
        }
        self.release(true).map(|(id, state)| report::render_detached(&id, &state))
    }

    /// Stops waiting, for a caller who has a way of its own to follow a run; its handle.
    pub fn part_with_handle(self) -> Option<RunId> {
        self.release(true).map(|(id, _)| id)
    }

    fn release(self, listed: bool) -> Option<(RunId, Arc<CallState>)> {
        match self.stage {
            ExecStage::Answered(_) | ExecStage::Watched(_) => None,
            ExecStage::Fresh(gate, work) => {
                let work = work?;
                let state = Arc::clone(&work.state);
                let id = gate.runs.register(Arc::clone(&state), listed);
                gate.executor.spawn(*work);
                Some((id, state))
            }
            ExecStage::Running(gate, mut follow) => {
                follow.detached = true;
                Some((gate.runs.register(Arc::clone(&follow.state), listed), Arc::clone(&follow.state)))
            }
            ExecStage::Attached(id, mut follow) => {
                follow.detached = true;
                if listed {
                    follow.state.become_run();
                }
                Some((id, Arc::clone(&follow.state)))
            }
        }
    }

    /// Ends the call: its facade is told, and dropped if it does not end by itself.
    pub fn cancel(&self) {
        if let Some(state) = self.state() {
            state.cancel.cancel();
        }
    }

    /// Gives answers to named questions that a call which has not begun may ask.
    pub fn prepare(&self, answers: impl Iterator<Item = (String, Answer)>) {
        if let Some(state) = self.state() {
            state.prepare_answers(answers);
        }
    }

    /// Answers a question. False where it is not open (any more).
    pub fn answer(&self, key: &str, answer: Answer) -> bool {
        self.state().is_some_and(|state| state.answer_question(key, answer))
    }

    /// Says no to all questions, for a caller who has nobody to ask.
    pub fn decline(&self, asks: &BTreeMap<String, Question>) {
        for key in asks.keys() {
            self.answer(key, Answer::Declined);
        }
    }

    fn state(&self) -> Option<&Arc<CallState>> {
        match &self.stage {
            ExecStage::Answered(_) => None,
            ExecStage::Fresh(_, work) => work.as_ref().map(|work| &work.state),
            ExecStage::Running(_, FollowGuard { state, .. })
            | ExecStage::Attached(_, FollowGuard { state, .. }) => Some(state),
            ExecStage::Watched(watch) => Some(&watch.state),
        }
    }
}

/// Counts a long call among those of its caller that have not ended.
fn take_ticket(gate: &GateState, state: &CallState) -> Result<Option<UnfinishedTicket>, Failure> {
    if !state.long_running {
        return Ok(None);
    }
    let ticket = gate.unfinished.register(state.account.as_ref(), gate.quotas);
    ticket.map_err(|now| failures::too_many_runs(now, &gate.runs.unfinished_facades(state)))
}

/// A call that holds its ticket until it has ended, or is dropped.
fn hold_ticket(
    ticket: Option<UnfinishedTicket>,
    call: impl Future<Output = Envelope> + Send + 'static,
) -> BoxFuture<'static, Envelope> {
    match ticket {
        // Most calls: a future within another would be moved once more, and it is large.
        None => Box::pin(call),
        Some(ticket) => Box::pin(async move {
            let _held = ticket;
            call.await
        }),
    }
}

/// How long a caller waits for a call.
fn patience_for(long: bool, wait: Option<bool>) -> Option<Duration> {
    match (long, wait) {
        // A call that ends within its request is answered at once anyway.
        (false, _) => None,
        (true, Some(false)) => Some(Duration::ZERO),
        (true, _) => Some(SOFT_DEADLINE),
    }
}
