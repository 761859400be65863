//! The port that a facade is given: the gate, as it looks from within a call.

use std::{
    future::poll_fn,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{
    Action, Answer, Call, CallId, Envelope, Failure, Fault, FaultKind, Level, Limit, Port, Progress,
    Question, Reply, Request, Session, Stop, Surface, code,
};
use loggia_schema::sanitise_line;
use tokio::time::Instant;

use super::{
    Shared,
    audit::{self, Audit},
    confirm,
    executor::log_fault,
    late::{Late, UnderWay},
    peers::Asked,
    permits::Permit,
    plan::Planned,
    printable,
    run::Run,
};
use crate::{
    catalog::{Entry, Slot},
    telemetry::meters::Outcome,
};

/// One call as its facade sees it.
pub struct Line {
    pub(super) id: CallId,
    pub(super) shared: Arc<Shared>,
    pub(super) run: Arc<Run>,
    pub(super) entry: Arc<Entry>,
    pub(super) action: usize,
    /// When the call's own clock ends, in the terms of [`Run::due`].
    due: Instant,
    /// The call that made this one.
    above: Option<Arc<Line>>,
    /// The right to run; given up while the call, or one that it made, waits for a person.
    pub(super) permit: tokio::sync::Mutex<Option<Permit>>,
    /// Why the call may not go on after it was parked.
    pub(super) stopped: OnceLock<Failure>,
    /// It was ended while a call that it had made was under way: whose time was used up, nobody knows.
    cut_off: Arc<AtomicBool>,
    /// Questions that facades asked in this call and in those that it made.
    pub(super) asked: AtomicUsize,
}

/// Runs a root call: waits for its turn, starts its clock, dispatches, makes the envelope.
pub async fn root(shared: Arc<Shared>, run: Arc<Run>, planned: Planned) -> Envelope {
    let (entry, command) = (Arc::clone(&planned.entry), planned.command.clone());
    let refused = |failure| Envelope::new(command.clone(), Err(failure));
    if let Err(resting) = entry.breaker.look(&entry.surface().name) {
        // Who asks again at once would keep the host as busy as with calls that run.
        tokio::time::sleep(RESTING).await;
        let why = (Outcome::Resting, &resting);
        audit::unstarted(&run, (&entry, planned.action), why, &shared.meters);
        return refused(resting);
    }
    if !entry.rules.invoke.is_empty() {
        // Just after the start it would find a facade missing that stands there a moment later.
        shared.catalog.admitted().await;
    }
    let permit = match shared.permits.root(&entry.pace, run.holder()).await {
        Ok(permit) => permit,
        Err(busy) => {
            audit::unstarted(&run, (&entry, planned.action), (Outcome::Busy, &busy), &shared.meters);
            return refused(busy);
        }
    };
    let meters = Arc::clone(&shared.meters);
    let (wall, limit) = entry.rules.wall(planned.action()).clone();
    let timeout = planned.timeout;
    let line = Line {
        id: next_id(),
        shared,
        run: Arc::clone(&run),
        entry: Arc::clone(&entry),
        action: planned.action,
        due: run.due(timeout.map_or(wall, |asked| asked.min(wall))),
        above: None,
        permit: tokio::sync::Mutex::new(Some(permit)),
        stopped: OnceLock::new(),
        cut_off: Arc::default(),
        asked: AtomicUsize::new(0),
    };
    let (due, late) = (line.due, line.late(timeout, wall, limit));
    let audit = Audit::begin((&line.id, None), &run, (&entry, planned.action, &planned.params), &meters);
    let envelope = match run.within(due, line.answer(planned)).await {
        Some(envelope) => envelope,
        None => refused(late.told()),
    };
    audit.end(&envelope);
    envelope
}

impl Line {
    async fn answer(self, planned: Planned) -> Envelope {
        // Held to the end: a facade may let go of its session early, and the permit must not go with it.
        let line = Arc::new(self);
        let entry = &line.entry;
        if entry.contract.confirms(&planned.action().name)
            && let Err(failure) = confirm::confirm(&line, &planned).await
        {
            return Envelope::new(planned.command, Err(failure));
        }
        let pass = match entry.breaker.pass(line.name()) {
            Ok(pass) => pass,
            Err(resting) => return Envelope::new(planned.command, Err(resting)),
        };
        let call = Call {
            id: line.id.clone(),
            action: planned.action().name.clone(),
            params: planned.params,
            detail: planned.detail,
            scope: entry.scopes.as_ref().and_then(|scopes| scopes.of(&line.run.caller, line.name())),
            deadline: line.run.until(line.due).unwrap_or(line.due).into_std(),
            idempotency_key: planned.idempotency_key,
            session: Session::new(Arc::new(Held(Arc::clone(&line)))),
        };
        let mut dispatched = Arc::clone(&entry.facade).dispatch(call);
        let dispatched = poll_fn(|context| match dispatched.as_mut().poll(context) {
            // It asked, and may not go on, whatever it would make of the refusal.
            Poll::Pending => match line.stopped.get() {
                Some(failure) => Poll::Ready(Err(failure.clone().into())),
                None => Poll::Pending,
            },
            ready => ready,
        });
        let outcome = dispatched.await.map_err(|stop| match stop {
            // A guest's last words may stand in it.
            Stop::Fault(fault) => {
                let message = sanitise_line(&fault.message, FAULT);
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
            Err(Stop::Fault(fault)) => fault.kind == FaultKind::Cpu && line.cut_off.load(Ordering::Relaxed),
            Err(Stop::Cancelled) => true,
            _ => line.stopped.get().is_some(),
        };
        if undecided {
            drop(pass);
        } else {
            pass.end(line.name(), fault);
        }
        let outcome = outcome.map_err(|stop: Stop| {
            let mut failure = Failure::from(stop);
            if failure.code == code::INVALID_PARAMS && failure.expected.is_none() {
                let action = &entry.surface().actions[line.action];
                failure.expected = Some(entry.contract.signature(action).to_owned());
            }
            failure
        });
        Envelope { resolved_inputs: planned.resolved, ..Envelope::new(planned.command, outcome) }
    }

    async fn nested(self: &Arc<Self>, request: Request) -> Result<Reply, Stop> {
        let timeout = request.timeout;
        let told = audit::Asked::of(&request.facade, &request.input);
        let refused = |failure: Failure| {
            audit::not_invoked(self, told, &failure);
            failure
        };
        let mut planned = match self.plan(request).map_err(refused)? {
            Asked::Answered(envelope) => return envelope.outcome.map_err(Stop::Failure),
            Asked::Call(planned) => *planned,
        };
        // A facade cannot agree for the person.
        planned.confirmed = false;
        planned.entry.breaker.look(&planned.entry.surface().name)?;
        let under_way = UnderWay::new(&self.cut_off);
        let turn = async {
            self.take_back().await?;
            self.shared.permits.nested(self.depth() + 1, self.run.account.as_ref()).await
        };
        let permit = match turn.await {
            Ok(permit) => permit,
            Err(refused) => {
                under_way.ended();
                return Err(refused.into());
            }
        };
        let entry = Arc::clone(&planned.entry);
        let (wall, limit) = entry.rules.wall(planned.action()).clone();
        let own = self.run.due(timeout.map_or(wall, |asked| asked.min(wall)));
        let line = Self {
            id: next_id(),
            shared: Arc::clone(&self.shared),
            run: Arc::clone(&self.run),
            entry: Arc::clone(&entry),
            action: planned.action,
            due: own.min(self.due),
            above: Some(Arc::clone(self)),
            permit: tokio::sync::Mutex::new(Some(permit)),
            stopped: OnceLock::new(),
            cut_off: Arc::default(),
            asked: AtomicUsize::new(0),
        };
        let late = line.late(timeout, wall, limit);
        let command = planned.command.clone();
        let above = (&line.id, Some(&self.id));
        let what = (&entry, planned.action, &planned.params);
        let audit = Audit::begin(above, &self.run, what, &self.shared.meters);
        let envelope = match self.run.within(own, line.answer(planned)).await {
            Some(envelope) => envelope,
            None => Envelope::new(command, Err(late.told())),
        };
        audit.end(&envelope);
        under_way.ended();
        envelope.outcome.map_err(Stop::Failure)
    }

    /// What becomes of it if it does not answer in time.
    fn late(&self, asked: Option<Duration>, wall: Duration, limit: Limit) -> Late {
        Late::new(&self.entry, &self.cut_off, asked, wall, limit)
    }

    /// Makes sure that the call may go on, and takes a permit, if another branch of it has not done so already.
    pub(super) async fn come_back(&self) -> Result<(), Failure> {
        let action = &self.entry.surface().actions[self.action].name;
        let said = match self.shared.catalog.slot(self.name()) {
            Some(Slot::Serving(now)) if now.surface().action(action).is_none() => {
                Some(format!("no longer serving `{action}`"))
            }
            Some(Slot::Serving(now)) if self.entry.rules.elicit && !now.rules.elicit => {
                Some("no longer allowed to ask".to_owned())
            }
            Some(Slot::Serving(_)) => None,
            Some(Slot::Unavailable(reason)) => Some(format!("unavailable: {reason}")),
            None => Some("no longer served".to_owned()),
        };
        if let Some(said) = said {
            return Err(Failure::new(code::UNAVAILABLE, format!("`{}` is {said}", self.name())));
        }
        self.take_permit().await
    }

    /// Takes a permit again, if the call has none.
    async fn take_permit(&self) -> Result<(), Failure> {
        let mut permit = self.permit.lock().await;
        if permit.is_none() {
            *permit = Some(match self.depth() {
                0 => self.shared.permits.again(&self.entry.pace, self.run.holder()).await?,
                depth => self.shared.permits.nested(depth, self.run.account.as_ref()).await?,
            });
        }
        Ok(())
    }

    /// Takes back the permits that a question has given up which was dropped before it was answered: nobody came back
    /// from it. Whoever has a permit of its own waits for none above it, since those may wait for such as it has.
    async fn take_back(&self) -> Result<(), Failure> {
        if self.run.is_parked() || self.permit.lock().await.is_some() {
            return Ok(());
        }
        let mut chain: Vec<&Self> = self.chain().collect();
        while let Some(line) = chain.pop() {
            line.take_permit().await?;
        }
        Ok(())
    }

    /// This call and those above it, outermost last.
    pub(super) fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |line| line.above.as_deref())
    }

    /// How many calls are above this one.
    pub(super) fn depth(&self) -> usize {
        self.chain().count() - 1
    }

    pub(super) fn name(&self) -> &str {
        &self.entry.surface().name
    }
}

/// How long a refusal by a facade that rests takes.
const RESTING: Duration = Duration::from_millis(50);
/// Bytes of a fault's sentence.
const FAULT: usize = 600;
/// The port: a line that the calls it makes can hold on to.
struct Held(Arc<Line>);

impl Port for Held {
    fn progress(&self, progress: Progress) {
        // A nested call's figures are not its root's: a client is told how far the call that it made has come.
        if self.0.above.is_none() {
            self.0.run.progress(progress);
        }
    }

    fn log(&self, level: Level, text: &str) {
        let facade = self.0.name();
        self.0.run.log(level, text);
        let text = printable(text);
        match level {
            Level::Trace => tracing::trace!(target: "plugin", facade, "{text}"),
            Level::Debug => tracing::debug!(target: "plugin", facade, "{text}"),
            Level::Info => tracing::info!(target: "plugin", facade, "{text}"),
            Level::Warn => tracing::warn!(target: "plugin", facade, "{text}"),
            Level::Error => tracing::error!(target: "plugin", facade, "{text}"),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.0.run.cancel.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        self.0.run.cancel.cancelled().boxed()
    }

    fn elicit(&self, question: Question) -> BoxFuture<'_, Result<Answer, Failure>> {
        self.0.ask_for_facade(question).boxed()
    }

    fn may_elicit(&self) -> Result<(), Failure> {
        self.0.may_elicit()
    }

    fn may_invoke(&self, facade: &str, action: &str) -> Result<(), Failure> {
        self.0.may_ask(facade, action)
    }

    fn invoke(&self, request: Request) -> BoxFuture<'_, Result<Reply, Stop>> {
        self.0.nested(request).boxed()
    }

    fn facades(&self) -> Result<Vec<Surface>, Failure> {
        self.0.facades()
    }

    fn lookup(&self, facade: &str, action: &str) -> Result<Action, Failure> {
        self.0.lookup(facade, action)
    }

    fn check(&self, request: Request) -> Result<(), Failure> {
        self.0.check(request)
    }
}

fn next_id() -> CallId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    CallId(format!("c{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}
