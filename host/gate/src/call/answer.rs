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
    audit::Audit,
    confirm,
    faults::log_fault,
    frame::{Line, next_id},
    peers::Asked,
    port::Held,
    shared::Shared,
    timeout::UnderWay,
};
use crate::{flow::Outcome, plan::Planned, run::Run};

/// How long a refusal by a facade that rests takes.
const RESTING: Duration = Duration::from_millis(50);
/// Bytes of a fault's sentence.
const FAULT: usize = 600;

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
        if entry.contract.needs_confirmation(&planned.action().name)
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

    pub(super) async fn nested(self: &Arc<Self>, request: Request) -> Result<Reply, Stop> {
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
}
