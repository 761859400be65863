//! The front side of a call: one object, from request to run.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use loggia_facade::{Answer, Command, Envelope, Failure, Question};

use super::{audit, batch, chain, gate_state::Shared};
use crate::{
    access::Origin,
    flow::{Outcome, UnfinishedTicket},
    plan::{PlannedBatch, PlannedCall},
    run::{Event, Run, RunId, Seen, Status, failures, report},
    schedule::Work,
};

/// How long a client waits for a call that may outlive its request: less than clients give a request.
const PATIENCE: Duration = Duration::from_secs(40);

/// Follows one call. Dropping it cancels the call, unless it was detached.
pub struct Exec {
    stage: Stage,
    seen: Seen,
    patience: Option<Duration>,
}

enum Stage {
    /// Answered without running, or ended within its first slice.
    Answered(Option<Box<Envelope>>),
    /// Nothing has run yet. `None` only while the first slice is polled.
    Fresh(Arc<Shared>, Option<Box<Work>>),
    /// On the second runtime.
    Running(Arc<Shared>, Follow),
    /// Detached before; ours to cancel again.
    Attached(RunId, Follow),
    /// A run that somebody asks about, and that goes on whoever asks.
    Watched(Watch),
}

/// Cancels the call when its last follower goes away, unless the call was let go, or is known as a run.
struct Follow {
    run: Arc<Run>,
    detached: bool,
}

impl Follow {
    fn new(run: Arc<Run>) -> Self {
        run.followed();
        Self { run, detached: false }
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        let was_last = self.run.unfollowed();
        if was_last && !self.detached && !self.run.is_listed() {
            self.run.cancel.cancel();
        }
    }
}

/// A question about a run, which is answered when the run has ended.
pub(super) struct Watch {
    pub command: Command,
    pub id: RunId,
    pub run: Arc<Run>,
    pub include_trace: bool,
}

impl Watch {
    fn told(&self) -> Envelope {
        report::told(self.command.clone(), &self.id, &self.run, self.include_trace)
    }
}

impl Exec {
    fn at(stage: Stage, patience: Option<Duration>) -> Self {
        Self { stage, seen: Seen::default(), patience }
    }

    pub(super) fn answered(envelope: Envelope) -> Self {
        Self::at(Stage::Answered(Some(Box::new(envelope))), None)
    }

    pub(super) fn attached(id: RunId, run: Arc<Run>) -> Self {
        let patience = run.long.then_some(PATIENCE);
        Self::at(Stage::Attached(id, Follow::new(run)), patience)
    }

    pub(super) fn watching(watch: Watch) -> Self {
        Self::at(Stage::Watched(watch), Some(PATIENCE))
    }

    pub(super) fn begin(shared: &Arc<Shared>, origin: Origin, planned: PlannedCall) -> Self {
        let (entry, action) = (Arc::clone(&planned.entry), planned.action);
        let run = Arc::new(Run::new(origin, &planned));
        let ticket = match ticket(shared, &run) {
            Ok(ticket) => ticket,
            Err(busy) => {
                audit::unstarted(&run, (&entry, action), (Outcome::Busy, &busy), &shared.meters);
                return Self::answered(Envelope::new(planned.command, Err(busy)));
            }
        };
        let patience = patience(run.long, planned.wait);
        let made = chain::run(Arc::clone(shared), Arc::clone(&run), planned);
        Self::fresh(shared, shared.executor.work(run, entry, with(ticket, made)), patience)
    }

    pub(super) fn begin_batch(shared: &Arc<Shared>, origin: Origin, batch: PlannedBatch) -> Self {
        let entry = Arc::clone(&batch.entry);
        let run = Arc::new(Run::batch(origin, &batch));
        let ticket = match ticket(shared, &run) {
            Ok(ticket) => ticket,
            Err(busy) => {
                for item in &batch.items {
                    audit::unstarted(&run, (&entry, item.action), (Outcome::Busy, &busy), &shared.meters);
                }
                return Self::answered(Envelope::new(batch.command, Err(busy)));
            }
        };
        let patience = patience(true, batch.wait);
        let made = batch::run(Arc::clone(shared), Arc::clone(&run), batch);
        Self::fresh(shared, shared.executor.work(run, entry, with(ticket, made)), patience)
    }

    fn fresh(shared: &Arc<Shared>, work: Work, patience: Option<Duration>) -> Self {
        Self::at(Stage::Fresh(Arc::clone(shared), Some(Box::new(work))), patience)
    }

    /// How long to follow the call before it is [`part`](Self::part)ed with: to its end where there is none, not at all
    /// where it is zero.
    pub fn patience(&self) -> Option<Duration> {
        self.patience
    }

    /// Whether the call may outlive its request.
    pub fn may_become_run(&self) -> bool {
        self.run().is_some_and(|run| run.long) && !matches!(self.stage, Stage::Watched(_))
    }

    /// Whether the call waits for a person.
    pub fn is_asking(&self) -> bool {
        self.run().is_some_and(|run| run.status() == Status::Waiting)
    }

    /// Resolves when a question is no longer open: it was answered, taken back, or the call has ended.
    pub fn closed(&self, key: String) -> impl Future<Output = ()> + Send + 'static {
        let run = self.run().cloned();
        async move {
            if let Some(run) = run {
                run.closed(&key).await;
            }
        }
    }

    /// The run that is only asked about, if this is a question about one.
    pub fn watched(&self) -> Option<RunId> {
        match &self.stage {
            Stage::Watched(watch) => Some(watch.id.clone()),
            _ => None,
        }
    }

    /// What happens next. Must be called from a task that may be blocked for a millisecond. Dropping the future loses
    /// nothing. After `Done` it never resolves.
    pub async fn next(&mut self) -> Event {
        if let Stage::Fresh(shared, work) = &mut self.stage {
            let shared = Arc::clone(shared);
            if let Some(work) = work.take() {
                let run = Arc::clone(&work.run);
                // Polled once and never pending, so no drop can lose the call here.
                match shared.executor.first_slice(*work).await {
                    Ok(envelope) => {
                        self.stage = Stage::Answered(Some(Box::new(envelope)));
                        if let Some(progress) = run.news(&mut self.seen) {
                            return Event::Progress(progress);
                        }
                    }
                    Err(work) => {
                        shared.executor.spawn(work);
                        self.stage = Stage::Running(shared, Follow::new(run));
                    }
                }
            }
        }
        let event = match &mut self.stage {
            Stage::Answered(envelope) => match envelope.take() {
                Some(envelope) => return Event::Done(envelope),
                None => std::future::pending().await,
            },
            Stage::Running(_, Follow { run, .. }) | Stage::Attached(_, Follow { run, .. }) => {
                run.next(&mut self.seen).await
            }
            Stage::Watched(watch) => match watch.run.next(&mut self.seen).await {
                Event::Done(_) => Event::Done(Box::new(watch.told())),
                event => event,
            },
            Stage::Fresh(..) => std::future::pending().await,
        };
        if matches!(event, Event::Done(_)) {
            self.stage = Stage::Answered(None);
        }
        event
    }

    /// Lets the call go on without a follower, until somebody attaches to it by this handle. None for a call that was
    /// answered already: its envelope is all there is.
    pub fn detach(self) -> Option<RunId> {
        self.let_go(false).map(|(id, _)| id)
    }

    /// Stops waiting: the call goes on as a run, and the caller is told of it. A call that was answered already is told
    /// as it is.
    pub fn part(mut self) -> Option<Envelope> {
        if let Stage::Watched(watch) = &self.stage {
            return Some(watch.told());
        }
        if let Stage::Answered(envelope) = &mut self.stage {
            return envelope.take().map(|envelope| *envelope);
        }
        self.let_go(true).map(|(id, run)| report::detached(&id, &run))
    }

    /// Stops waiting, for a caller who has a way of its own to follow a run; its handle.
    pub fn part_with_handle(self) -> Option<RunId> {
        self.let_go(true).map(|(id, _)| id)
    }

    fn let_go(self, listed: bool) -> Option<(RunId, Arc<Run>)> {
        match self.stage {
            Stage::Answered(_) | Stage::Watched(_) => None,
            Stage::Fresh(shared, work) => {
                let work = work?;
                let run = Arc::clone(&work.run);
                let id = shared.runs.keep(Arc::clone(&run), listed);
                shared.executor.spawn(*work);
                Some((id, run))
            }
            Stage::Running(shared, mut follow) => {
                follow.detached = true;
                Some((shared.runs.keep(Arc::clone(&follow.run), listed), Arc::clone(&follow.run)))
            }
            Stage::Attached(id, mut follow) => {
                follow.detached = true;
                if listed {
                    follow.run.list();
                }
                Some((id, Arc::clone(&follow.run)))
            }
        }
    }

    /// Ends the call: its facade is told, and dropped if it does not end by itself.
    pub fn cancel(&self) {
        if let Some(run) = self.run() {
            run.cancel.cancel();
        }
    }

    /// Gives answers to named questions that a call which has not begun may ask.
    pub fn prepare(&self, answers: impl Iterator<Item = (String, Answer)>) {
        if let Some(run) = self.run() {
            run.prepare(answers);
        }
    }

    /// Answers a question. False where it is not open (any more).
    pub fn answer(&self, key: &str, answer: Answer) -> bool {
        self.run().is_some_and(|run| run.answer(key, answer))
    }

    /// Says no to all questions, for a caller who has nobody to ask.
    pub fn decline(&self, asks: &BTreeMap<String, Question>) {
        for key in asks.keys() {
            self.answer(key, Answer::Declined);
        }
    }

    fn run(&self) -> Option<&Arc<Run>> {
        match &self.stage {
            Stage::Answered(_) => None,
            Stage::Fresh(_, work) => work.as_ref().map(|work| &work.run),
            Stage::Running(_, Follow { run, .. }) | Stage::Attached(_, Follow { run, .. }) => Some(run),
            Stage::Watched(watch) => Some(&watch.run),
        }
    }
}

/// Counts a long call among those of its caller that have not ended.
fn ticket(shared: &Shared, run: &Run) -> Result<Option<UnfinishedTicket>, Failure> {
    if !run.long {
        return Ok(None);
    }
    let ticket = shared.unfinished.register(run.account.as_ref(), shared.quotas);
    ticket.map_err(|now| failures::too_many(now, &shared.runs.unfinished(run)))
}

/// A call that holds its ticket until it has ended, or is dropped.
fn with(
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
fn patience(long: bool, wait: Option<bool>) -> Option<Duration> {
    match (long, wait) {
        // A call that ends within its request is answered at once anyway.
        (false, _) => None,
        (true, Some(false)) => Some(Duration::ZERO),
        (true, _) => Some(PATIENCE),
    }
}
