//! The port that a facade is given: the gate, as it looks from within a call.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{
    Answer, Call, CallId, Envelope, Failure, Level, Port, Progress, Question, Reply, Request, Session, Stop,
    code,
};
use tokio::time::Instant;

use super::{
    Shared,
    executor::log_fault,
    permits::{DEPTH, Permit},
    plan::{Plan, Planned, effect_allows, plan},
    run::Run,
};
use crate::catalog::{Entry, Slot};

/// How long a parked call waits for its person.
const PARKED: Duration = Duration::from_secs(5 * 60);

/// One call as its facade sees it.
pub struct Line {
    shared: Arc<Shared>,
    run: Arc<Run>,
    entry: Arc<Entry>,
    action: usize,
    deadline: Instant,
    /// The facades above this call, outermost first.
    chain: Vec<Arc<Entry>>,
    /// The right to run; given up while the call is parked.
    permit: Mutex<Option<Permit>>,
}

/// Runs a root call: waits for its turn, dispatches, makes the envelope.
pub async fn root(shared: Arc<Shared>, run: Arc<Run>, planned: Planned, deadline: Instant) -> Envelope {
    let permit = shared.permits.root(&planned.entry.pace).await;
    let line = Line {
        shared,
        run,
        entry: Arc::clone(&planned.entry),
        action: planned.action,
        deadline,
        chain: Vec::new(),
        permit: Mutex::new(Some(permit)),
    };
    line.answer(planned).await
}

impl Line {
    async fn answer(self, planned: Planned) -> Envelope {
        // Held to the end: a facade may let go of its session early, and the permit must not go with it.
        let line = Arc::new(self);
        let entry = &line.entry;
        let call = Call {
            id: next_id(),
            action: planned.action().name.clone(),
            params: planned.params,
            detail: planned.detail,
            scope: None,
            deadline: line.deadline.into_std(),
            idempotency_key: planned.idempotency_key,
            session: Session::new(Arc::clone(&line) as Arc<dyn Port>),
        };
        let outcome = Arc::clone(&entry.facade).dispatch(call).await.map_err(|stop| {
            if let Stop::Fault(fault) = &stop {
                log_fault(fault);
            }
            let mut failure = Failure::from(stop);
            if failure.code == code::INVALID_PARAMS && failure.expected.is_none() {
                let action = &entry.surface().actions[line.action];
                failure.expected = Some(entry.contract.signature(action).to_owned());
            }
            failure
        });
        Envelope { command: planned.command, outcome, resolved_inputs: planned.resolved }
    }

    async fn nested(&self, request: Request) -> Result<Reply, Stop> {
        let refuse = |code, said: String| Err(Stop::Failure(Failure::new(code, said)));
        let snapshot = self.shared.catalog.snapshot();
        let timeout = request.timeout;
        let planned = match plan(&snapshot, request) {
            Plan::Answer(envelope) => return envelope.outcome.map_err(Stop::Failure),
            Plan::Run(planned) => *planned,
        };
        let (target, action) = (planned.entry.surface().name.clone(), planned.action());
        let depth = self.chain.len() + 1;
        if depth > DEPTH {
            return refuse(code::DENIED, format!("access denied: calls nest at most {DEPTH} deep"));
        }
        let above = self.chain.iter().chain([&self.entry]);
        if above.clone().any(|entry| entry.surface().name == target) {
            return refuse(
                code::DENIED,
                format!("access denied: `{target}` is already waiting for this call"),
            );
        }
        if !self.entry.rules.may_invoke(&target, &action.name) {
            let said = format!("access denied: the policy does not let `{}` call `{target}`", self.name());
            return Err(Failure::new(code::DENIED, said)
                .hint(format!("the operator can add \"{target}:{}\" to `grants.invoke`", action.name))
                .into());
        }
        let effect = self.entry.surface().actions[self.action].effect;
        if !effect_allows(effect, action.effect) {
            let (own, other) = (effect.as_str(), action.effect.as_str());
            return refuse(
                code::DENIED,
                format!(
                    "access denied: a {own} action may not call `{target}.{}`, which is {other}",
                    action.name
                ),
            );
        }
        let permit = self.shared.permits.nested(depth).map_err(Stop::Failure)?;
        let (wall, limit) = planned.entry.rules.wall(action).clone();
        let own = Instant::now() + timeout.map_or(wall, |asked| asked.min(wall));
        let line = Self {
            shared: Arc::clone(&self.shared),
            run: Arc::clone(&self.run),
            entry: Arc::clone(&planned.entry),
            action: planned.action,
            deadline: own.min(self.deadline),
            chain: above.cloned().collect(),
            permit: Mutex::new(Some(permit)),
        };
        let run = Arc::clone(&self.run);
        let answered = line.answer(planned);
        tokio::pin!(answered);
        loop {
            let ends = run.deadline(own);
            let clock = async {
                match ends {
                    Some(ends) => tokio::time::sleep_until(ends).await,
                    None => run.unparked().await,
                }
            };
            tokio::select! {
                biased;
                envelope = &mut answered => return envelope.outcome.map_err(Stop::Failure),
                () = clock => {}
            }
            if run.deadline(own).is_some_and(|ends| ends <= Instant::now()) {
                let said = format!("timed out: `{target}` did not answer within {}", limit.value);
                return refuse(code::TIMED_OUT, said);
            }
        }
    }

    async fn ask(&self, question: Question) -> Result<Answer, Failure> {
        let _parked = self.shared.parking.park(&self.run)?;
        drop(self.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
        let (key, answer) = self.run.ask(question);
        let answer = tokio::select! {
            answer = answer => answer.unwrap_or(Answer::Cancelled),
            () = tokio::time::sleep(PARKED) => {
                self.run.withdraw(&key);
                return Err(Failure::new(code::TIMED_OUT, "timed out: nobody answered the question")
                    .hint(format!("questions stay open for {} minutes", PARKED.as_secs() / 60)));
            }
        };
        self.come_back().await?;
        Ok(answer)
    }

    /// Much may have happened while the call was parked: it needs a permit again, and its facade must still be served.
    async fn come_back(&self) -> Result<(), Failure> {
        match self.shared.catalog.slot(self.name()) {
            Some(Slot::Serving(_)) => {}
            Some(Slot::Unavailable(reason)) => {
                return Err(Failure::new(
                    code::UNAVAILABLE,
                    format!("`{}` is unavailable: {reason}", self.name()),
                ));
            }
            None => {
                return Err(Failure::new(
                    code::UNAVAILABLE,
                    format!("`{}` is no longer served", self.name()),
                ));
            }
        }
        let permit = match self.chain.len() {
            0 => self.shared.permits.root(&self.entry.pace).await,
            depth => self.shared.permits.nested(depth)?,
        };
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
        Ok(())
    }

    fn name(&self) -> &str {
        &self.entry.surface().name
    }
}

impl Port for Line {
    fn progress(&self, progress: Progress) {
        self.run.progress(progress);
    }

    fn log(&self, level: Level, text: &str) {
        let facade = self.name();
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
        self.run.cancel.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        self.run.cancel.cancelled().boxed()
    }

    fn elicit(&self, question: Question) -> BoxFuture<'_, Result<Answer, Failure>> {
        self.ask(question).boxed()
    }

    fn invoke(&self, request: Request) -> BoxFuture<'_, Result<Reply, Stop>> {
        self.nested(request).boxed()
    }
}

/// A plugin's text on one line of the log: it must not forge another line, nor steer a terminal.
fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        text.chars()
            .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
            .collect()
    } else {
        text.into()
    }
}

fn next_id() -> CallId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    CallId(format!("c{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_plugins_text_stays_on_its_line() {
        assert_eq!(printable("plain – text"), "plain – text");
        assert_eq!(printable("a\nINFO forged \u{1b}[31m"), "a\\nINFO forged \\u{1b}[31m");
    }
}
