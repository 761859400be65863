//! One call from its request to its envelope: what its facade says meanwhile, what it asks, when its clock ends.

use core::net::IpAddr;
use std::{
    collections::{BTreeMap, BTreeSet},
    mem::{size_of, take},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use loggia_facade::{Answer, Command, Envelope, Level, Object, Progress, Question};
use serde_json::Value;
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{event::Event, status::Status, trace::RunTrace, weight};
use crate::{
    access::{Account, Caller, Mark, Origin, Rights},
    catalog::Entry,
    flow::PermitHolder,
    plan::{PlannedBatch, PlannedCall},
};

/// One call. Shared by the task that runs it, the port its facade holds, and whoever follows it.
///
/// **Invariant**: it holds the names of the facade and the actions that it is of, and never the facade itself: a run is kept
/// long after it has ended, and a version that was replaced meanwhile must be dropped, with its descriptors and machine code.
pub(crate) struct CallState {
    /// Whose it is.
    pub caller: Caller,
    /// Whose share it uses.
    pub account: Option<Account>,
    /// Where its request came from.
    pub address: Option<IpAddr>,
    /// What its caller may call. It keeps those with which it began.
    pub rights: Rights,
    /// Whether whoever began it can ask a person.
    pub can_ask: bool,
    /// By which names its request is known elsewhere.
    pub request_ids: Mark,
    /// The facade that was called.
    pub facade: String,
    /// Which of its actions were called: a batch may call several.
    actions: Vec<String>,
    /// Echoed in its envelope.
    pub command: Command,
    /// All parameters, as far as they may be shown; only of a call that may become a run.
    pub inputs: Object,
    /// Whether it may outlive its request.
    pub long_running: bool,
    /// When it began.
    pub began: SystemTime,
    /// How many follow it.
    followers: AtomicUsize,
    /// Its caller was told that it is a run; otherwise it ends with its request, or waits for an answer.
    became_run: AtomicBool,
    /// The caller went away or said stop.
    pub cancel: CancellationToken,
    /// Never held across an await, nor while another lock is taken.
    state: Mutex<MutableState>,
    /// Something in `state` that a follower may want to see has changed.
    pub(super) changed: Notify,
    /// The last parked branch of the call has resumed.
    resumed: Notify,
}

#[derive(Default)]
pub(super) struct MutableState {
    progress: Option<Progress>,
    /// How often `progress` was set.
    progress_count: u64,
    pub(super) questions: BTreeMap<String, (Question, oneshot::Sender<Answer>)>,
    /// How many questions were ever asked; numbers the next.
    pub(super) question_count: u64,
    /// Answers that came with the call, by the names of questions that it has not asked yet.
    pub(super) prepared_answers: BTreeMap<String, Answer>,
    /// Names of questions that were asked: an answer that is sent again must not answer another one.
    pub(super) asked_names: BTreeSet<String>,
    clock: ParkedClock,
    outcome: Option<Envelope>,
    ended_at: Option<Instant>,
    /// About how many bytes it takes, once it has ended.
    weight: usize,
    /// Of a call that may become a run.
    trace: Option<RunTrace>,
    /// The outcome is kept for whoever attaches later.
    keeps_outcome: bool,
}

/// Stands still while any branch of the call waits for a person.
#[derive(Default)]
struct ParkedClock {
    parked_branches: usize,
    parked_since: Option<Instant>,
    parked_total: Duration,
}

impl ParkedClock {
    fn parked_time(&self, now: Instant) -> Duration {
        self.parked_total
            + self.parked_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}

/// What a follower has already been told.
#[derive(Default)]
pub(crate) struct EventCursor {
    progress_count: u64,
    question_count: u64,
}

impl CallState {
    pub(crate) fn for_call(origin: Origin, planned: &PlannedCall) -> Self {
        let actions = vec![planned.action().name.clone()];
        let run = Self::with_origin(origin, &planned.entry, &planned.command, actions);
        Self { inputs: planned.inputs.clone(), ..run.with_long_running(planned.action().long_running) }
    }

    /// Several calls in one.
    pub(crate) fn for_batch(origin: Origin, batch: &PlannedBatch) -> Self {
        let actions: BTreeSet<&str> = batch.items.iter().map(|item| item.action().name.as_str()).collect();
        let actions = actions.into_iter().map(str::to_owned).collect();
        Self::with_origin(origin, &batch.entry, &batch.command, actions).with_long_running(true)
    }

    fn with_origin(origin: Origin, entry: &Entry, command: &Command, actions: Vec<String>) -> Self {
        Self {
            account: origin.account(),
            address: origin.address,
            caller: origin.caller,
            rights: origin.rights,
            can_ask: origin.can_ask,
            request_ids: origin.request_ids,
            facade: entry.surface().name.clone(),
            actions,
            command: command.clone(),
            inputs: Object::new(),
            long_running: false,
            began: SystemTime::now(),
            followers: AtomicUsize::new(0),
            became_run: AtomicBool::new(false),
            cancel: CancellationToken::new(),
            state: Mutex::default(),
            changed: Notify::new(),
            resumed: Notify::new(),
        }
    }

    fn with_long_running(self, long: bool) -> Self {
        let state = MutableState { trace: long.then(RunTrace::start), ..MutableState::default() };
        Self { long_running: long, state: Mutex::new(state), ..self }
    }

    /// Whether it is this caller's, with the rights that the caller has now: one token of a caller may reach less than
    /// another, and is not to be told what that one began.
    pub(crate) fn is_visible_to(&self, origin: &Origin) -> bool {
        self.is_visible_with(&origin.caller, &origin.rights)
    }

    /// The same for who began another call.
    pub(crate) fn is_visible_beside(&self, other: &Self) -> bool {
        self.account == other.account && self.is_visible_with(&other.caller, &other.rights)
    }

    fn is_visible_with(&self, caller: &Caller, rights: &Rights) -> bool {
        let may_call = |action: &String| rights.allow(&self.facade, action);
        self.caller.is(caller) && (rights.are_all() || self.actions.iter().all(may_call))
    }

    /// What permits depend on.
    pub(crate) fn permit_holder(&self) -> PermitHolder<'_> {
        PermitHolder { account: self.account.as_ref(), long: self.long_running }
    }

    /// From here on its caller knows it as a run.
    pub(crate) fn become_run(&self) {
        self.became_run.store(true, Ordering::Release);
    }

    /// Whether its caller knows it as a run.
    pub(crate) fn is_run(&self) -> bool {
        self.became_run.load(Ordering::Acquire)
    }

    /// Somebody follows the call.
    pub(crate) fn add_follower(&self) {
        self.followers.fetch_add(1, Ordering::Relaxed);
    }

    /// Somebody does no longer; whether that was the last.
    pub(crate) fn remove_follower(&self) -> bool {
        self.followers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, MutableState> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record_progress(&self, progress: Progress) {
        let mut state = self.lock();
        if let Some(trace) = &mut state.trace {
            trace.progress(&progress);
        }
        state.progress = Some(progress);
        state.progress_count += 1;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Keeps a log line with the run, if it may become one.
    pub(crate) fn record_log(&self, level: Level, text: &str) {
        if self.long_running
            && let Some(trace) = &mut self.lock().trace
        {
            trace.log(level, text);
        }
    }

    /// How the call stands.
    pub(crate) fn status(&self) -> Status {
        let state = self.lock();
        match &state.outcome {
            Some(envelope) => Status::from_envelope(envelope),
            None if state.questions.is_empty() => Status::Running,
            None => Status::Waiting,
        }
    }

    /// What it last said of its progress.
    pub(crate) fn latest_progress(&self) -> Option<Progress> {
        self.lock().progress.clone()
    }

    /// What it waits to be told.
    pub(crate) fn question_texts(&self) -> Vec<String> {
        self.lock().questions.values().map(|(question, _)| question.message.clone()).collect()
    }

    /// The open questions, with their keys.
    pub(crate) fn open_questions(&self) -> BTreeMap<String, Question> {
        let state = self.lock();
        state.questions.iter().map(|(key, (question, _))| (key.clone(), question.clone())).collect()
    }

    /// What came of it, once it has ended.
    pub(crate) fn outcome(&self) -> Option<Envelope> {
        self.lock().outcome.clone()
    }

    /// What it said while it ran.
    pub(crate) fn render_trace(&self) -> Value {
        self.lock().trace.as_ref().map_or_else(|| Value::Array(Vec::new()), RunTrace::to_json)
    }

    /// A branch of the call begins to wait for a person; whether it is the first.
    pub(crate) fn park(&self) -> bool {
        let mut state = self.lock();
        state.clock.parked_branches += 1;
        state.clock.parked_since.get_or_insert_with(Instant::now);
        state.clock.parked_branches == 1
    }

    /// Whether some branch of the call waits for a person.
    pub(crate) fn is_parked(&self) -> bool {
        self.lock().clock.parked_branches > 0
    }

    /// A branch that was parked goes on; whether it was the last.
    pub(crate) fn resume(&self) -> bool {
        let mut state = self.lock();
        state.clock.parked_branches = state.clock.parked_branches.saturating_sub(1);
        let was_last = state.clock.parked_branches == 0;
        if was_last {
            state.clock.parked_total = state.clock.parked_time(Instant::now());
            state.clock.parked_since = None;
            drop(state);
            self.resumed.notify_waiters();
        }
        was_last
    }

    /// When a clock that starts now and runs for so long ends, if the call is not parked meanwhile. Times that are due
    /// are compared and kept in these terms; [`Run::until`] gives the moment.
    pub(crate) fn start_clock(&self, wall: Duration) -> Instant {
        let now = Instant::now();
        let parked = self.lock().clock.parked_time(now);
        (now + wall).checked_sub(parked).unwrap_or(now)
    }

    /// The moment at which something is due, as far as the call was parked until now; none while it is parked.
    pub(crate) fn deadline(&self, due: Instant) -> Option<Instant> {
        let state = self.lock();
        state.clock.parked_since.is_none().then(|| due + state.clock.parked_total)
    }

    /// Gives a future until it is due. None if the clock ends first.
    pub(crate) async fn run_within<F: Future>(&self, due: Instant, future: F) -> Option<F::Output> {
        tokio::pin!(future);
        loop {
            let until = self.deadline(due);
            let clock = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => self.wait_until_resumed().await,
                }
            };
            tokio::select! {
                biased;
                output = &mut future => return Some(output),
                () = clock => {}
            }
            if self.deadline(due).is_some_and(|until| until <= Instant::now()) {
                return None;
            }
        }
    }

    /// Returns at once unless the call is parked, and else when it has resumed.
    async fn wait_until_resumed(&self) {
        loop {
            let resumed = self.resumed.notified();
            tokio::pin!(resumed);
            resumed.as_mut().enable();
            if self.lock().clock.parked_since.is_none() {
                return;
            }
            resumed.await;
        }
    }

    /// The call has ended.
    pub(crate) fn finish(&self, envelope: Envelope) {
        let weight = weight::envelope(&envelope) + self.own_weight();
        let mut state = self.lock();
        let progress = state.progress.as_ref().map_or(0, |progress| weight::optional(&progress.message));
        state.weight = weight + progress + state.trace.as_ref().map_or(0, RunTrace::weight);
        state.outcome = Some(envelope);
        state.ended_at = Some(Instant::now());
        let over =
            (take(&mut state.questions), take(&mut state.prepared_answers), take(&mut state.asked_names));
        drop(state);
        // Not under the lock: answers and forms may be large.
        drop(over);
        self.changed.notify_waiters();
    }

    /// Keeps the outcome for whoever attaches later.
    pub(crate) fn keep_outcome(&self) {
        self.lock().keeps_outcome = true;
    }

    /// About how many bytes it takes, all that is kept with its outcome included. Nothing before it has ended: how many
    /// such there are is bounded.
    pub(crate) fn weight(&self) -> usize {
        self.lock().weight
    }

    fn own_weight(&self) -> usize {
        let names = self.actions.iter().map(weight::text).sum::<usize>() + weight::text(&self.facade);
        size_of::<Self>() + names + weight::optional(&self.command.name) + weight::object(&self.inputs)
    }

    /// Resolves when the call has ended.
    pub(crate) async fn wait_until_ended(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.ended_at().is_some() {
                return;
            }
            changed.await;
        }
    }

    /// When the call ended, if it has.
    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.lock().ended_at
    }

    /// The next thing a follower has not been told. Dropping the future loses nothing.
    pub(crate) async fn next_event(&self, seen: &mut EventCursor) -> Event {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(event) = self.poll_event(seen) {
                return event;
            }
            changed.await;
        }
    }

    /// The latest progress that a follower has not been told.
    pub(crate) fn next_progress(&self, seen: &mut EventCursor) -> Option<Progress> {
        let state = self.lock();
        (state.progress_count > seen.progress_count).then(|| seen.progress_count = state.progress_count)?;
        state.progress.clone()
    }

    fn poll_event(&self, seen: &mut EventCursor) -> Option<Event> {
        if let Some(progress) = self.next_progress(seen) {
            return Some(Event::Progress(progress));
        }
        let mut state = self.lock();
        if state.outcome.is_some() {
            let envelope = if state.keeps_outcome { state.outcome.clone() } else { state.outcome.take() };
            return envelope.map(|envelope| Event::Done(Box::new(envelope)));
        }
        if state.question_count > seen.question_count && !state.questions.is_empty() {
            seen.question_count = state.question_count;
            let asks = state.questions.iter().map(|(key, (question, _))| (key.clone(), question.clone()));
            return Some(Event::Asks(asks.collect()));
        }
        None
    }
}
