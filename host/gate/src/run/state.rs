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

use super::{event::Event, status::Status, trace::Trace, weight};
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
pub struct Run {
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
    pub mark: Mark,
    /// The facade that was called.
    pub facade: String,
    /// Which of its actions were called: a batch may call several.
    actions: Vec<String>,
    /// Echoed in its envelope.
    pub command: Command,
    /// All parameters, as far as they may be shown; only of a call that may become a run.
    pub inputs: Object,
    /// Whether it may outlive its request.
    pub long: bool,
    /// When it began.
    pub began: SystemTime,
    /// How many follow it.
    followers: AtomicUsize,
    /// Its caller was told that it is a run; otherwise it ends with its request, or waits for an answer.
    listed: AtomicBool,
    /// The caller went away or said stop.
    pub cancel: CancellationToken,
    /// Never held across an await, nor while another lock is taken.
    state: Mutex<State>,
    /// Something in `state` that a follower may want to see has changed.
    pub(super) changed: Notify,
    /// The last parked branch of the call has resumed.
    resumed: Notify,
}

#[derive(Default)]
pub(super) struct State {
    progress: Option<Progress>,
    /// How often `progress` was set.
    progressed: u64,
    pub(super) asks: BTreeMap<String, (Question, oneshot::Sender<Answer>)>,
    /// How many questions were ever asked; numbers the next.
    pub(super) asked: u64,
    /// Answers that came with the call, by the names of questions that it has not asked yet.
    pub(super) ready: BTreeMap<String, Answer>,
    /// Names of questions that were asked: an answer that is sent again must not answer another one.
    pub(super) named: BTreeSet<String>,
    clock: Clock,
    outcome: Option<Envelope>,
    ended: Option<Instant>,
    /// About how many bytes it takes, once it has ended.
    weight: usize,
    /// Of a call that may become a run.
    trace: Option<Trace>,
    /// The outcome is kept for whoever attaches later.
    kept: bool,
}

/// Stands still while any branch of the call waits for a person.
#[derive(Default)]
struct Clock {
    parked: usize,
    since: Option<Instant>,
    total: Duration,
}

impl Clock {
    fn parked_for(&self, now: Instant) -> Duration {
        self.total + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}

/// What a follower has already been told.
#[derive(Default)]
pub struct Seen {
    progressed: u64,
    asked: u64,
}

impl Run {
    pub fn new(origin: Origin, planned: &PlannedCall) -> Self {
        let actions = vec![planned.action().name.clone()];
        let run = Self::of(origin, &planned.entry, &planned.command, actions);
        Self { inputs: planned.inputs.clone(), ..run.long(planned.action().long_running) }
    }

    /// Several calls in one.
    pub fn batch(origin: Origin, batch: &PlannedBatch) -> Self {
        let actions: BTreeSet<&str> = batch.items.iter().map(|item| item.action().name.as_str()).collect();
        let actions = actions.into_iter().map(str::to_owned).collect();
        Self::of(origin, &batch.entry, &batch.command, actions).long(true)
    }

    fn of(origin: Origin, entry: &Entry, command: &Command, actions: Vec<String>) -> Self {
        Self {
            account: origin.account(),
            address: origin.address,
            caller: origin.caller,
            rights: origin.rights,
            can_ask: origin.can_ask,
            mark: origin.request_ids,
            facade: entry.surface().name.clone(),
            actions,
            command: command.clone(),
            inputs: Object::new(),
            long: false,
            began: SystemTime::now(),
            followers: AtomicUsize::new(0),
            listed: AtomicBool::new(false),
            cancel: CancellationToken::new(),
            state: Mutex::default(),
            changed: Notify::new(),
            resumed: Notify::new(),
        }
    }

    fn long(self, long: bool) -> Self {
        let state = State { trace: long.then(Trace::begin), ..State::default() };
        Self { long, state: Mutex::new(state), ..self }
    }

    /// Whether it is this caller's, with the rights that the caller has now: one token of a caller may reach less than
    /// another, and is not to be told what that one began.
    pub fn is_for(&self, origin: &Origin) -> bool {
        self.is_within(&origin.caller, &origin.rights)
    }

    /// The same for who began another call.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.account == other.account && self.is_within(&other.caller, &other.rights)
    }

    fn is_within(&self, caller: &Caller, rights: &Rights) -> bool {
        let may_call = |action: &String| rights.allow(&self.facade, action);
        self.caller.is(caller) && (rights.are_all() || self.actions.iter().all(may_call))
    }

    /// What permits depend on.
    pub fn holder(&self) -> PermitHolder<'_> {
        PermitHolder { account: self.account.as_ref(), long: self.long }
    }

    /// From here on its caller knows it as a run.
    pub fn list(&self) {
        self.listed.store(true, Ordering::Release);
    }

    /// Whether its caller knows it as a run.
    pub fn is_listed(&self) -> bool {
        self.listed.load(Ordering::Acquire)
    }

    /// Somebody follows the call.
    pub fn followed(&self) {
        self.followers.fetch_add(1, Ordering::Relaxed);
    }

    /// Somebody does no longer; whether that was the last.
    pub fn unfollowed(&self) -> bool {
        self.followers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn progress(&self, progress: Progress) {
        let mut state = self.lock();
        if let Some(trace) = &mut state.trace {
            trace.progress(&progress);
        }
        state.progress = Some(progress);
        state.progressed += 1;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Keeps a log line with the run, if it may become one.
    pub fn log(&self, level: Level, text: &str) {
        if self.long
            && let Some(trace) = &mut self.lock().trace
        {
            trace.log(level, text);
        }
    }

    /// How the call stands.
    pub fn status(&self) -> Status {
        let state = self.lock();
        match &state.outcome {
            Some(envelope) => Status::of(envelope),
            None if state.asks.is_empty() => Status::Running,
            None => Status::Waiting,
        }
    }

    /// What it last said of its progress.
    pub fn progressed(&self) -> Option<Progress> {
        self.lock().progress.clone()
    }

    /// What it waits to be told.
    pub fn questions(&self) -> Vec<String> {
        self.lock().asks.values().map(|(question, _)| question.message.clone()).collect()
    }

    /// The open questions, with their keys.
    pub fn asks(&self) -> BTreeMap<String, Question> {
        let state = self.lock();
        state.asks.iter().map(|(key, (question, _))| (key.clone(), question.clone())).collect()
    }

    /// What came of it, once it has ended.
    pub fn outcome(&self) -> Option<Envelope> {
        self.lock().outcome.clone()
    }

    /// What it said while it ran.
    pub fn trace(&self) -> Value {
        self.lock().trace.as_ref().map_or_else(|| Value::Array(Vec::new()), Trace::to_json)
    }

    /// A branch of the call begins to wait for a person; whether it is the first.
    pub fn park(&self) -> bool {
        let mut state = self.lock();
        state.clock.parked += 1;
        state.clock.since.get_or_insert_with(Instant::now);
        state.clock.parked == 1
    }

    /// Whether some branch of the call waits for a person.
    pub fn is_parked(&self) -> bool {
        self.lock().clock.parked > 0
    }

    /// A branch that was parked goes on; whether it was the last.
    pub fn resume(&self) -> bool {
        let mut state = self.lock();
        state.clock.parked = state.clock.parked.saturating_sub(1);
        let was_last = state.clock.parked == 0;
        if was_last {
            state.clock.total = state.clock.parked_for(Instant::now());
            state.clock.since = None;
            drop(state);
            self.resumed.notify_waiters();
        }
        was_last
    }

    /// When a clock that starts now and runs for so long ends, if the call is not parked meanwhile. Times that are due
    /// are compared and kept in these terms; [`Run::until`] gives the moment.
    pub fn due(&self, wall: Duration) -> Instant {
        let now = Instant::now();
        let parked = self.lock().clock.parked_for(now);
        (now + wall).checked_sub(parked).unwrap_or(now)
    }

    /// The moment at which something is due, as far as the call was parked until now; none while it is parked.
    pub fn until(&self, due: Instant) -> Option<Instant> {
        let state = self.lock();
        state.clock.since.is_none().then(|| due + state.clock.total)
    }

    /// Gives a future until it is due. None if the clock ends first.
    pub async fn within<F: Future>(&self, due: Instant, future: F) -> Option<F::Output> {
        tokio::pin!(future);
        loop {
            let until = self.until(due);
            let clock = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => self.unparked().await,
                }
            };
            tokio::select! {
                biased;
                output = &mut future => return Some(output),
                () = clock => {}
            }
            if self.until(due).is_some_and(|until| until <= Instant::now()) {
                return None;
            }
        }
    }

    /// Returns at once unless the call is parked, and else when it has resumed.
    async fn unparked(&self) {
        loop {
            let resumed = self.resumed.notified();
            tokio::pin!(resumed);
            resumed.as_mut().enable();
            if self.lock().clock.since.is_none() {
                return;
            }
            resumed.await;
        }
    }

    /// The call has ended.
    pub fn finish(&self, envelope: Envelope) {
        let weight = weight::envelope(&envelope) + self.own_weight();
        let mut state = self.lock();
        let progress = state.progress.as_ref().map_or(0, |progress| weight::optional(&progress.message));
        state.weight = weight + progress + state.trace.as_ref().map_or(0, Trace::weight);
        state.outcome = Some(envelope);
        state.ended = Some(Instant::now());
        let over = (take(&mut state.asks), take(&mut state.ready), take(&mut state.named));
        drop(state);
        // Not under the lock: answers and forms may be large.
        drop(over);
        self.changed.notify_waiters();
    }

    /// Keeps the outcome for whoever attaches later.
    pub fn keep(&self) {
        self.lock().kept = true;
    }

    /// About how many bytes it takes, all that is kept with its outcome included. Nothing before it has ended: how many
    /// such there are is bounded.
    pub fn weight(&self) -> usize {
        self.lock().weight
    }

    fn own_weight(&self) -> usize {
        let names = self.actions.iter().map(weight::text).sum::<usize>() + weight::text(&self.facade);
        size_of::<Self>() + names + weight::optional(&self.command.name) + weight::object(&self.inputs)
    }

    /// Resolves when the call has ended.
    pub async fn end(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.ended().is_some() {
                return;
            }
            changed.await;
        }
    }

    /// When the call ended, if it has.
    pub fn ended(&self) -> Option<Instant> {
        self.lock().ended
    }

    /// The next thing a follower has not been told. Dropping the future loses nothing.
    pub async fn next(&self, seen: &mut Seen) -> Event {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(event) = self.event(seen) {
                return event;
            }
            changed.await;
        }
    }

    /// The latest progress that a follower has not been told.
    pub fn news(&self, seen: &mut Seen) -> Option<Progress> {
        let state = self.lock();
        (state.progressed > seen.progressed).then(|| seen.progressed = state.progressed)?;
        state.progress.clone()
    }

    fn event(&self, seen: &mut Seen) -> Option<Event> {
        if let Some(progress) = self.news(seen) {
            return Some(Event::Progress(progress));
        }
        let mut state = self.lock();
        if state.outcome.is_some() {
            let envelope = if state.kept { state.outcome.clone() } else { state.outcome.take() };
            return envelope.map(|envelope| Event::Done(Box::new(envelope)));
        }
        if state.asked > seen.asked && !state.asks.is_empty() {
            seen.asked = state.asked;
            let asks = state.asks.iter().map(|(key, (question, _))| (key.clone(), question.clone()));
            return Some(Event::Asks(asks.collect()));
        }
        None
    }
}
