//! Driver of one run: carries out the engine's effects, and reports their results.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
    time::{Duration, SystemTime},
};

use chrono::{DateTime, SecondsFormat, Utc};
use data_encoding::HEXLOWER;
use futures_util::{
    FutureExt,
    future::{BoxFuture, FusedFuture},
};
use loggia_facade::{
    Call, Detail, Failure, Input, JournalWriter, Object, Question, Request, Session,
    trace::{ActiveSpan, SpanKind, names},
};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep_until};

use super::{
    journal_entry::JournalEntry,
    replay::ReplayedRun,
    tasks::{CallEnding, RunTasks},
};
use crate::{
    Workflow,
    definition::UnknownOutcome,
    engine::{
        self, DryRun, RunEffect, RunEvent, RunOutcome, RunPlan, RunStart, RunState, StepNews, StepTarget,
        TaskId,
    },
    progress::ProgressReporter,
};

/// Observer of every step of every run, for displays that show more than progress.
pub type StepObserver = Arc<dyn Fn(&StepNews) + Send + Sync>;

/// Everything that a run acts through.
pub(super) struct RunSurroundings<'a> {
    /// Session of the workflow's call.
    pub session: Session,
    /// Journal of the call, if it is durable.
    pub writer: Option<Arc<dyn JournalWriter>>,
    /// Observer of the steps, if there is one.
    pub watcher: Option<&'a StepObserver>,
}

/// Begins a run and drives it to its end.
pub(super) async fn begin_run(plan: &RunPlan, mut call: Call, around: RunSurroundings<'_>) -> RunOutcome {
    let dry = plan.workflow.dry_runs.then(|| call.params.shift_remove(Workflow::DRY_RUN)).flatten();
    let dry = dry.and_then(|dry| DryRun::from_json(&dry));
    let start = RunStart {
        id: run_id(&call.action, call.idempotency_key.as_deref()),
        start_time: start_time(),
        params: call.params,
        seed: random_u64(),
        dry,
    };
    let began = around.writer.is_some().then(|| (plan.clone(), start.clone()));
    let (state, effects) = engine::begin(plan, start);
    let mut driver = RunDriver::new(plan, state, around);
    let recorded = began.and_then(|(plan, start)| {
        let entry = Box::new(move || JournalEntry::began(&plan, &start).to_bytes());
        driver.writer.as_ref().map(|writer| writer.append_later(entry))
    });
    let effects = driver.once_durable(recorded, effects).await;
    driver.drive(effects).await
}

/// Continues a run from its journal and drives it to its end. A call that was interrupted is made again if that has no
/// further effect; otherwise its step decides.
pub(super) async fn resume_run(run: ReplayedRun, around: RunSurroundings<'_>) -> RunOutcome {
    let ReplayedRun { plan, state, now, open, is_unmade, news, outcome } = run;
    if let Some(outcome) = outcome {
        return outcome;
    }
    let mut driver = RunDriver::new(&plan, state, around);
    driver.clock.base = now;
    for news in &news {
        driver.teller.report(news);
    }
    if is_unmade {
        let recorded = driver.append(JournalEntry::Resumed.to_bytes());
        let effects = driver.once_durable(recorded, open).await;
        return driver.drive(effects).await;
    }
    let mut effects = Vec::new();
    for effect in open {
        match driver.unknown_outcome(&effect) {
            UnknownOutcome::Retry => effects.push(effect),
            UnknownOutcome::Ask => driver.ask_about(effect),
            UnknownOutcome::Fail => driver.interrupted.extend(effect.task().map(RunEvent::Interrupted)),
        }
    }
    driver.drive(effects).await
}

/// Clock of a run, which stands still while no host runs it.
struct DriverClock {
    /// Time of the run when this process took it up.
    base: Duration,
    began: Instant,
}

impl DriverClock {
    fn now(&self) -> Duration {
        self.base.saturating_add(self.began.elapsed())
    }

    /// Returns the moment at which the run's time is `due`.
    fn moment(&self, due: Duration) -> Instant {
        self.began + due.saturating_sub(self.base)
    }
}

/// Carries out the effects of one run.
struct RunDriver<'a> {
    plan: &'a RunPlan,
    state: RunState,
    clock: DriverClock,
    session: Session,
    writer: Option<Arc<dyn JournalWriter>>,
    watcher: Option<&'a StepObserver>,
    teller: ProgressReporter<'a>,
    tasks: RunTasks,
    /// Events of calls that were interrupted and are not repeated.
    interrupted: VecDeque<RunEvent>,
    /// The time for undoing was asked for.
    has_time: bool,
}

/// Result of appending an entry.
type AppendResult = Option<BoxFuture<'static, Result<(), Failure>>>;

impl<'a> RunDriver<'a> {
    fn new(plan: &'a RunPlan, state: RunState, around: RunSurroundings<'a>) -> Self {
        let RunSurroundings { session, writer, watcher } = around;
        Self {
            plan,
            state,
            clock: DriverClock { base: Duration::ZERO, began: Instant::now() },
            writer,
            watcher,
            teller: ProgressReporter::new(&plan.workflow, session.clone()),
            tasks: RunTasks::new(session.clone()),
            interrupted: VecDeque::new(),
            has_time: false,
            session,
        }
    }

    /// Drives the run to its end, beginning with these effects.
    async fn drive(mut self, mut effects: Vec<RunEffect>) -> RunOutcome {
        let session = self.session.clone();
        let mut cancelled = session.cancelled().fuse();
        self.ask_for_time();
        loop {
            for effect in effects {
                match effect {
                    RunEffect::Done(outcome) => {
                        // Calls that were cancelled may undo what they have done, within the time that they were given.
                        self.tasks.wait_until_ended().await;
                        return *outcome;
                    }
                    effect => self.carry_out(effect),
                }
            }
            let event = match self.interrupted.pop_front() {
                Some(event) => event,
                None => self.next_event(&mut cancelled).await,
            };
            let now = self.clock.now();
            let recorded = self.record(now, &event);
            let requested = engine::step(self.plan, &mut self.state, now, event);
            self.ask_for_time();
            effects = self.once_durable(recorded, requested).await;
        }
    }

    /// Asks for the time that a saga needs to undo what it has done, once it has stopped.
    fn ask_for_time(&mut self) {
        if let Some(most) = self.state.undo_time(self.plan).filter(|_| !self.has_time) {
            self.session.begin_cleanup(most);
            self.has_time = true;
        }
    }

    /// Carries out an effect that does not end the run.
    fn carry_out(&mut self, effect: RunEffect) {
        match effect {
            RunEffect::Call { task, facade, action, params, idempotency_key } => {
                let (ends, span) = (self.call_end(task), self.step_span(task));
                self.tasks.call(task, to_request(facade, action, params, idempotency_key), ends, span);
            }
            RunEffect::Cancel(task) => self.tasks.cancel(task),
            RunEffect::Ask { task, message, schema, timeout } => {
                let question = Question { timeout: Some(timeout), ..Question::form(message, schema) };
                self.tasks.ask(task, question);
            }
            RunEffect::Drop(task) => self.tasks.end(task),
            RunEffect::Tell(news) => {
                self.teller.report(&news);
                if let Some(watcher) = self.watcher {
                    watcher(&news);
                }
            }
            RunEffect::Done(_) => {}
        }
    }

    async fn next_event(&mut self, cancelled: &mut (impl FusedFuture<Output = ()> + Unpin)) -> RunEvent {
        let due = self.state.due().map(|due| self.clock.moment(due));
        let clock = async {
            match due {
                // More steps can start immediately: yield first, so that others run and the caller can cancel.
                Some(due) if due <= Instant::now() => tokio::task::yield_now().await,
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = cancelled => RunEvent::Cancelled,
            event = self.tasks.next() => event,
            () = clock => RunEvent::Due,
        }
    }

    fn append(&self, entry: Vec<u8>) -> AppendResult {
        self.writer.as_ref().map(|writer| writer.append(entry))
    }

    /// Records an event. A run that may begin again records only its beginning.
    fn record(&self, now: Duration, event: &RunEvent) -> AppendResult {
        if self.writer.is_none() || self.plan.is_repeatable() {
            return None;
        }
        self.append(JournalEntry::received(now, event).to_bytes())
    }

    /// Returns the effects once what led to them is durable, if any of them is seen outside: a call that changes something, or
    /// a question. A run whose journal fails stops.
    async fn once_durable(&mut self, recorded: AppendResult, effects: Vec<RunEffect>) -> Vec<RunEffect> {
        let Some(recorded) = recorded.filter(|_| effects.iter().any(|effect| self.is_visible(effect))) else {
            return effects;
        };
        match recorded.await {
            Ok(()) => effects,
            Err(failure) => {
                self.writer = None;
                let unmade = effects.iter().filter_map(RunEffect::task).filter(|task| !task.undoes);
                let unmade = unmade.map(|task| task.step).collect();
                let stopped = RunEvent::Stopped(failure.message, unmade);
                engine::step(self.plan, &mut self.state, self.clock.now(), stopped)
            }
        }
    }

    fn is_visible(&self, effect: &RunEffect) -> bool {
        match effect {
            RunEffect::Call { task, .. } => self.target(*task).is_none_or(|target| target.changes),
            RunEffect::Ask { .. } => true,
            RunEffect::Drop(_) | RunEffect::Cancel(_) | RunEffect::Tell(_) | RunEffect::Done(_) => false,
        }
    }

    /// Begins the span of a step.
    fn step_span(&self, task: TaskId) -> ActiveSpan {
        let step = self.plan.workflow.steps.get(task.step).map_or("", |step| step.id.as_str());
        let mut span = self.session.span().begin(SpanKind::Internal, || names::step_span(step));
        span.set(names::STEP, step);
        span.set(names::ATTEMPT, task.attempt.saturating_add(1));
        if let Some(item) = task.item {
            span.set(names::ITEM, item);
        }
        if task.undoes {
            span.set(names::UNDOES, true);
        }
        span
    }

    fn target(&self, task: TaskId) -> Option<&StepTarget> {
        self.plan.target(task)
    }

    /// Decides how a call ends. What a saga has to undo must not be cut off: its outcome would be unknown. A durable call, such
    /// as that of another workflow, may have something to undo itself.
    fn call_end(&self, task: TaskId) -> CallEnding {
        let Some(target) = self.target(task) else { return CallEnding::AtOnce };
        match (target.durable, self.plan.workflow.saga.is_some() && target.changes) {
            (true, true) => CallEnding::WhenCancelled,
            (true, false) => CallEnding::WithCaller,
            (false, true) => CallEnding::ByItself,
            (false, false) => CallEnding::AtOnce,
        }
    }

    /// Decides about a call or question that was under way when the host stopped.
    fn unknown_outcome(&self, effect: &RunEffect) -> UnknownOutcome {
        let RunEffect::Call { task, facade, action, .. } = effect else { return UnknownOutcome::Retry };
        // It goes on from its own entries.
        if self.session.lookup(facade, action).is_ok_and(|found| found.is_durable) {
            return UnknownOutcome::Retry;
        }
        let stated = self.plan.workflow.steps.get(task.step).and_then(|step| match task.undoes {
            true => step.compensation().and_then(|undo| undo.on_unknown),
            false => step.on_unknown,
        });
        let repeatable = self.target(*task).is_some_and(|target| target.repeatable);
        match stated {
            _ if repeatable => UnknownOutcome::Retry,
            Some(stated) => stated,
            None => UnknownOutcome::Fail,
        }
    }

    /// Asks a person whether an interrupted call is made again.
    fn ask_about(&mut self, effect: RunEffect) {
        if let RunEffect::Call { task, facade, action, params, idempotency_key } = effect {
            let (ends, span) = (self.call_end(task), self.step_span(task));
            let request = to_request(facade, action, params, idempotency_key);
            self.tasks.ask_and_call(task, request, ends, span);
        }
    }
}

fn to_request(facade: String, action: String, params: Object, idempotency_key: String) -> Request {
    let input = Input::Action { action, params, detail: Detail::Standard };
    Request { idempotency_key: Some(idempotency_key), ..Request::new(facade, input) }
}

/// Formats the time of day for `.workflow.start_time`.
#[expect(clippy::disallowed_methods, reason = "a run's start time is data that its templates read")]
fn start_time() -> String {
    DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Derives the id of a run. The same workflow and caller key yield the same id, so that steps stay idempotent.
fn run_id(workflow: &str, key: Option<&str>) -> String {
    match key {
        None => format!("wf_{:016x}{:016x}", random_u64(), random_u64()),
        // The caller's key may be long, and must not leak to called facades.
        Some(key) => {
            let digest = Sha256::digest(format!("{workflow}\n{key}"));
            format!("wf_{}", HEXLOWER.encode(&digest[..16]))
        }
    }
}

/// Returns a new random number, for ids of runs and seeds of jitter.
fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_ids_are_stable_per_caller_key() {
        assert_ne!(run_id("pay", None), run_id("pay", None));
        assert_eq!(run_id("pay", Some("order-7")), run_id("pay", Some("order-7")));
        assert_ne!(run_id("pay", Some("order-7")), run_id("pay", Some("order-8")));
        assert_ne!(run_id("pay", Some("order-7")), run_id("pack", Some("order-7")));
        assert_eq!(run_id("pay", Some(&"x".repeat(1 << 20))).len(), run_id("pay", None).len());
    }
}
