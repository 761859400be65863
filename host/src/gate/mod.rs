//! The gate: the only way to run anything.
//!
//! MCP calls, CLI calls, workflow steps and calls that a plugin makes to another facade all pass here, so the same
//! checks hold wherever a call began.
//!
//! ```text
//! start ─▶ plan (route, resolve, validate) ─▶ permits ─▶ dispatch ─▶ envelope
//!                                                          │
//!             Exec ◀── progress · asks · done ◀── Line ◀───┘
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `origin.rs` | who calls |
//! | `mark.rs` | by which names a request is known elsewhere |
//! | `rights.rs` | what a caller may call |
//! | `rules.rs` | what the operator's policy says of a facade's calls |
//! | `plan.rs` | pure: from a request to a validated call, or to an answer without one |
//! | `permits.rs`, `pool.rs` | who may run now, and how much of it one caller may have |
//! | `quotas.rs` | how much one caller may leave unfinished |
//! | `breaker.rs` | facades that fail again and again, and rest |
//! | `run.rs`, `run/` | one call from its request to its envelope: state, clock, questions |
//! | `line.rs` | the port that a facade is given |
//! | `late.rs` | calls that do not answer in time |
//! | `peers.rs` | what a facade may know of others, and may call |
//! | `scopes.rs` | under which key a plugin keeps a caller's state |
//! | `executor.rs` | where a call runs: inline first, then on the second runtime |
//! | `work.rs`, `shares.rs` | a call on its way through the runtimes; whose calls wait for others |
//! | `exec.rs` | the front side: what a handler polls |
//! | `parking.rs` | calls that wait for a person |
//! | `confirm.rs` | actions before which a person is asked |
//! | `runs.rs`, `handle.rs` | calls that outlived their request, and how they are found |
//! | `about.rs`, `status.rs`, `trace.rs` | what is told of them |
//! | `weight.rs` | how much memory they take |
//! | `chain.rs` | calls that follow a call |
//! | `audit.rs`, `tally.rs` | one line for each call; where calls are counted |
//! | `census.rs` | what the gate holds now |
//! | `batch.rs` | several calls in one |

mod about;
mod audit;
mod batch;
mod breaker;
mod census;
mod chain;
mod confirm;
mod exec;
mod executor;
mod handle;
mod late;
mod line;
mod mark;
mod origin;
mod parking;
mod peers;
mod permits;
mod plan;
mod pool;
mod quotas;
mod rights;
mod rules;
mod run;
mod runs;
mod scopes;
mod shares;
mod status;
mod tally;
mod trace;
mod weight;
mod work;

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use loggia_facade::{Command, Envelope, Failure, Input, Object, Request, code};
use loggia_schema::{View, is_hidden};

pub use audit::{TARGET as AUDIT, is_on as is_audited};
pub use breaker::{Breaker, Terms};
pub use census::{Census, Now};
pub use exec::{Event, Exec};
pub use executor::{Executor, Inline, Lanes};
pub use handle::RunId;
pub use mark::Mark;
pub use origin::{Account, Caller, Origin};
pub use permits::Pace;
pub use quotas::Quotas;
pub use rights::{NoScope, Rights, Scope};
pub use rules::{Chain, Clocks, InvokeRule, Rules};
pub use runs::KEPT;
pub use scopes::Scopes;
pub use status::Status;
pub use tally::Tally;

use crate::{
    catalog::{Catalog, Snapshot},
    telemetry::meters::Meters,
};

/// A text that a plugin had a part in, on one line of the log: it must not forge another line, nor steer a terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() || is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}');
    if text.chars().any(odd) {
        text.chars().flat_map(|c| if odd(c) { c.escape_default().collect() } else { vec![c] }).collect()
    } else {
        text.into()
    }
}

/// Everything that calls share.
pub(crate) struct Shared {
    pub catalog: Arc<Catalog>,
    pub executor: Executor,
    pub permits: permits::Permits,
    pub parking: parking::Parking,
    pub runs: runs::Runs,
    pub unfinished: quotas::Unfinished,
    /// What one caller may leave unfinished.
    pub quotas: Quotas,
    pub meters: Arc<Meters>,
    /// No call begins any more.
    pub ending: AtomicBool,
}

/// The front side of the gate. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    shared: Arc<Shared>,
}

impl Gate {
    /// A gate over a catalog. Calls that do not end at once go on in the executor.
    pub fn new(catalog: Arc<Catalog>, executor: Executor) -> Self {
        Self::under(catalog, executor, Quotas::default())
    }

    /// The same with other quotas for each caller.
    pub fn under(catalog: Arc<Catalog>, executor: Executor, quotas: Quotas) -> Self {
        let shared = Shared {
            catalog,
            executor,
            permits: permits::Permits::default(),
            parking: parking::Parking::new(quotas.parked),
            runs: runs::Runs::default(),
            unfinished: quotas::Unfinished::default(),
            quotas,
            meters: Arc::default(),
            ending: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// What is counted of its calls, and of what leads to it.
    pub fn meters(&self) -> &Arc<Meters> {
        &self.shared.meters
    }

    /// What it holds now.
    pub fn census(&self) -> Census {
        Census::of(&self.shared)
    }

    /// The facades that the gate leads to.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.shared.catalog
    }

    /// Begins a call to a facade. Nothing runs before the first [`Exec::next`] or [`Exec::detach`].
    pub fn start(&self, origin: Origin, request: Request) -> Exec {
        self.begin(&self.shared.catalog.snapshot(), origin, request, &View::whole())
    }

    /// Begins a call to a tool, which may be a part of a facade. None where no such tool was ever published, or none that
    /// the caller's rights reach: whoever may not call it must not learn that it is there.
    pub fn call_tool(&self, origin: Origin, tool: &str, arguments: Object) -> Option<Exec> {
        let snapshot = self.shared.catalog.snapshot();
        let input = Input::Arguments(arguments);
        let there = match snapshot.tools.get(tool) {
            Some(tool) => {
                snapshot.view(tool, &origin.rights).map(|_| (tool.facade.as_str(), Some(tool.view())))
            }
            None => {
                let facade =
                    snapshot.leads_to(tool).filter(|facade| snapshot.reaches(facade, &origin.rights));
                facade.map(|facade| (facade, None))
            }
        };
        let Some((facade, view)) = there else {
            audit::unknown_tool(&origin, audit::Asked::of(tool, &input));
            return None;
        };
        if view.is_none()
            && let Some(envelope) = snapshot.no_longer_published(tool, facade, &origin.rights)
        {
            return Some(Exec::answered(envelope));
        }
        let request = Request { facade: facade.to_owned(), input, timeout: None, idempotency_key: None };
        Some(self.begin(&snapshot, origin, request, view.unwrap_or(&View::whole())))
    }

    fn begin(&self, snapshot: &Snapshot, origin: Origin, request: Request, view: &View) -> Exec {
        let under = snapshot.slots.get_key_value(&request.facade);
        let asked = audit::Asked::of(&request.facade, &request.input);
        let answered = |origin: &Origin, envelope: Envelope| {
            audit::answered(&self.shared, origin, under, (asked, &envelope));
            Exec::answered(envelope)
        };
        let planned = plan::plan(snapshot, request, view, &origin.rights);
        let ends = self.shared.ending.load(Ordering::Relaxed);
        if let (true, plan::Plan::Run(_) | plan::Plan::Batch(_)) = (ends, &planned) {
            let failure = Failure::new(code::UNAVAILABLE, "unavailable: the server is being ended");
            let command = Command { key: "action", name: None };
            return answered(&origin, Envelope::new(command, Err(failure)));
        }
        match planned {
            plan::Plan::Answer(envelope) => answered(&origin, *envelope),
            plan::Plan::Run(planned) => Exec::begin(&self.shared, origin, *planned),
            plan::Plan::Batch(batch) => Exec::begin_batch(&self.shared, origin, *batch),
            plan::Plan::AboutRun(asked) => about::about(&self.shared, &origin, asked),
        }
    }

    /// Takes up a call that was detached: it is this follower's to cancel again.
    ///
    /// # Errors
    ///
    /// `not_found` for a run that does not exist, has been forgotten, belongs to somebody else, or is of an
    /// action that this caller may no longer call: which of these it is, is not told.
    pub fn attach(&self, id: &RunId, who: &Origin) -> Result<Exec, Failure> {
        let run = self.shared.runs.get(id).filter(|run| run.is_for(who));
        let run = run.ok_or_else(about::no_such_run)?;
        Ok(Exec::attached(id.clone(), run))
    }

    /// How a run of this caller stands; see [`attach`](Self::attach) for the errors.
    pub fn look(&self, id: &RunId, who: &Origin) -> Result<Look, Failure> {
        let run = self.shared.runs.get(id).filter(|run| run.is_for(who));
        run.map(Look).ok_or_else(about::no_such_run)
    }

    /// Lets runs come to their end, but not for longer than this; then ends them.
    pub async fn drain(&self, patience: Duration) {
        self.shared.ending.store(true, Ordering::Relaxed);
        let all = async {
            loop {
                let running = self.shared.runs.running();
                // Nobody is there to answer.
                let waiting = running.iter().filter(|run| run.status() == Status::Waiting);
                waiting.for_each(|run| run.cancel.cancel());
                let Some(run) = running.first() else { return };
                run.end().await;
            }
        };
        if tokio::time::timeout(patience, all).await.is_ok() {
            return;
        }
        let left = self.shared.runs.running();
        tracing::warn!("{} runs are ended before they are done", left.len());
        left.iter().for_each(|run| run.cancel.cancel());
        let all = async {
            for run in &left {
                run.end().await;
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, all).await;
    }
}

/// How long calls that were cancelled may take to end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A run, to be looked at.
pub struct Look(Arc<run::Run>);

impl Look {
    /// Whose call it was.
    pub fn facade(&self) -> &str {
        &self.0.facade
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// What it last said of its progress.
    pub fn progress(&self) -> Option<loggia_facade::Progress> {
        self.0.progressed()
    }

    /// The questions that are open.
    pub fn asks(&self) -> std::collections::BTreeMap<String, loggia_facade::Question> {
        self.0.asks()
    }

    /// Answers a question. False where it is not open (any more).
    pub fn answer(&self, key: &str, answer: loggia_facade::Answer) -> bool {
        self.0.answer(key, answer)
    }

    /// Ends it: its facade is told, and dropped if it does not end by itself.
    pub fn cancel(&self) {
        self.0.cancel.cancel();
    }

    /// What came of it, once it has ended.
    pub fn outcome(&self) -> Option<loggia_facade::Envelope> {
        self.0.outcome()
    }

    /// When it began.
    pub fn began(&self) -> std::time::SystemTime {
        self.0.began
    }
}

#[cfg(test)]
pub(crate) mod tests;
