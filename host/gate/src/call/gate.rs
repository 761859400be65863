//! The front side of the gate.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use loggia_facade::{Command, Envelope, Failure, Input, Object, Request, code};
use loggia_schema::ToolView;

use super::{about, audit, census::Census, exec::Exec, shared::Shared};
use crate::{
    access::Origin,
    catalog::{Catalog, Snapshot},
    flow::{Meters, Permits, Quotas, Unfinished},
    plan,
    run::{Look, Parking, RunId, Runs, Status, refusal},
    schedule::{Executor, aside},
};

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
            permits: Permits::default(),
            parking: Parking::new(quotas.parked),
            runs: Runs::default(),
            unfinished: Unfinished::default(),
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
        self.begin(&self.shared.catalog.snapshot(), origin, request, &ToolView::all_actions())
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
        Some(self.begin(&snapshot, origin, request, view.unwrap_or(&ToolView::all_actions())))
    }

    fn begin(&self, snapshot: &Snapshot, origin: Origin, request: Request, view: &ToolView) -> Exec {
        let under = snapshot.slots.get_key_value(&request.facade);
        let asked = audit::Asked::of(&request.facade, &request.input);
        let answered = |origin: &Origin, envelope: Envelope| {
            audit::answered(&self.shared, origin, under, (asked, &envelope));
            Exec::answered(envelope)
        };
        let long = plan::is_long(&request.input);
        let planned = aside(long, || plan::plan(snapshot, request, view, &origin.rights));
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
        let run = run.ok_or_else(refusal::no_such_run)?;
        Ok(Exec::attached(id.clone(), run))
    }

    /// How a run of this caller stands; see [`attach`](Self::attach) for the errors.
    pub fn look(&self, id: &RunId, who: &Origin) -> Result<Look, Failure> {
        let run = self.shared.runs.get(id).filter(|run| run.is_for(who));
        run.map(Look::new).ok_or_else(refusal::no_such_run)
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
