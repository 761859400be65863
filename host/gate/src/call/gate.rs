//! The front side of the gate.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use loggia_facade::{
    Command, Envelope, Failure, Input, Object, Request,
    trace::{SpanKind, SpanRecorder, names},
};
use loggia_schema::ToolView;

use super::{
    answer_fit::{AnswerFit, DEFAULT_ANSWER},
    audit,
    audit_request::AuditRequest,
    call_trail::CallTrail,
    exec::Exec,
    gate_state::GateState,
    login, resumption, run_query,
    snapshot::{GateSnapshot, GuardStatus},
    start::{self, CallStart, StartOutcome},
};
use crate::{
    access::CallOrigin,
    approval::ApprovalDesk,
    catalog::{Catalog, CatalogSnapshot},
    failures,
    flow::{CallOutcome, CallerQuotas, GateMeters, PermitPools, UnfinishedCalls},
    guard::GuardRoster,
    journal::{EndedRun, Journal, JournalError, RunEnd, RunHead, RunHolder},
    plan,
    results::{ResultOwner, ResultQuery},
    run::{ParkedCalls, RunHandle, RunId, RunRegistry, RunStatus},
    schedule::{Executor, run_cpu_bound},
};

/// What outlives a gate, or is connected to it.
#[derive(Default)]
pub struct GateStores {
    /// Records runs that survive the host.
    pub journal: Option<Arc<dyn Journal>>,
    /// Approvals of people whom clients cannot ask.
    pub approvals: Option<Arc<ApprovalDesk>>,
    /// Set while calls are refused, since the audit trail cannot be written.
    pub unaudited: Option<Arc<AtomicBool>>,
    /// The audit trail of calls that ran. Other events of the trail are log events.
    pub trail: Option<Arc<dyn CallTrail>>,
    /// What looks at calls.
    pub guards: Option<Arc<GuardRoster>>,
    /// Records spans, if anything does.
    pub spans: Option<Arc<dyn SpanRecorder>>,
}

/// Starts calls to facades, finds runs, and drains them at shutdown. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    state: Arc<GateState>,
}

impl Gate {
    /// Creates a gate over a catalog, with the default quotas. Calls that do not end in their first slice move to the
    /// executor.
    pub fn new(catalog: Arc<Catalog>, executor: Executor) -> Self {
        Self::with_quotas(catalog, executor, CallerQuotas::default())
    }

    /// Creates a gate with these quotas for each caller.
    pub fn with_quotas(catalog: Arc<Catalog>, executor: Executor, quotas: CallerQuotas) -> Self {
        Self::with_stores(catalog, executor, quotas, GateStores::default())
    }

    /// Creates a gate that keeps runs and approvals in these stores.
    pub fn with_stores(
        catalog: Arc<Catalog>,
        executor: Executor,
        quotas: CallerQuotas,
        GateStores { journal, approvals, unaudited, trail, guards, spans }: GateStores,
    ) -> Self {
        let state = GateState {
            catalog,
            executor,
            permits: PermitPools::default(),
            parked: ParkedCalls::new(quotas.parked),
            runs: RunRegistry::default(),
            unfinished: UnfinishedCalls::default(),
            quotas,
            meters: Arc::default(),
            draining: Arc::default(),
            kept: Arc::default(),
            journal,
            approvals,
            unaudited,
            trail,
            guards,
            spans,
        };
        Self { state: Arc::new(state) }
    }

    /// Approvals of people whom clients cannot ask, if the host keeps any.
    pub fn approvals(&self) -> Option<&Arc<ApprovalDesk>> {
        self.state.approvals.as_ref()
    }

    /// What looks at calls, if the host has guards.
    pub fn guards(&self) -> Option<&Arc<GuardRoster>> {
        self.state.guards.as_ref()
    }

    /// Records spans, if anything does.
    pub fn spans(&self) -> Option<&Arc<dyn SpanRecorder>> {
        self.state.spans.as_ref()
    }

    pub(super) fn state(&self) -> &GateState {
        &self.state
    }

    /// Counters of the calls, and of the requests that lead to them.
    pub fn meters(&self) -> &Arc<GateMeters> {
        &self.state.meters
    }

    /// Captures queues, breakers and runs as they are now.
    pub fn snapshot(&self) -> GateSnapshot {
        GateSnapshot::capture(&self.state)
    }

    /// Guards as they are now, in the order in which they look.
    pub fn guard_statuses(&self) -> Vec<GuardStatus> {
        GuardStatus::capture_all(&self.state)
    }

    /// The catalog whose facades the gate calls.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.state.catalog
    }

    /// Creates a call to a facade. Nothing runs before the first [`Exec::next`] or [`Exec::detach`].
    pub fn start(&self, origin: CallOrigin, request: Request) -> Exec {
        self.begin(&self.state.catalog.snapshot(), origin, request, &ToolView::all_actions())
    }

    /// Creates a call to a tool, which may show only part of a facade. `None` if no such tool was ever published or the
    /// caller's rights do not reach it: a caller without rights must not learn that it exists.
    pub fn call_tool(&self, origin: CallOrigin, tool: &str, arguments: Object) -> Option<Exec> {
        let snapshot = self.state.catalog.snapshot();
        let input = Input::Arguments(arguments);
        let target = match snapshot.list(origin.list).tools.get(tool) {
            Some(tool) => {
                snapshot.visible_view(tool, &origin.rights).map(|_| (tool.facade.as_str(), Some(tool.view())))
            }
            None => {
                let facade = snapshot
                    .facade_of(origin.list, tool)
                    .filter(|facade| snapshot.reaches(facade, &origin.rights));
                facade.map(|facade| (facade, None))
            }
        };
        let Some((facade, view)) = target else {
            audit::record_unknown_tool(&origin, AuditRequest::from_input(tool, &input));
            return None;
        };
        if view.is_none()
            && let Some(envelope) = snapshot.no_longer_published(origin.list, (tool, facade), &origin.rights)
        {
            return Some(Exec::answered(envelope));
        }
        let fit = AnswerFit::of_call(&self.state, &snapshot, &origin, facade);
        let request = Request::new(facade, input);
        let exec = self.begin(&snapshot, origin, request, view.unwrap_or(&ToolView::all_actions()));
        Some(exec.with_fit(fit))
    }

    /// Cuts a result of a facade that is longer than the client reads, and keeps the rest.
    pub fn fit_answer(&self, envelope: Envelope, facade: &str, origin: &CallOrigin) -> Envelope {
        match AnswerFit::of_call(&self.state, &self.state.catalog.snapshot(), origin, facade) {
            Some(fit) => fit.apply(envelope),
            None => envelope,
        }
    }

    fn begin(
        &self,
        snapshot: &CatalogSnapshot,
        origin: CallOrigin,
        request: Request,
        view: &ToolView,
    ) -> Exec {
        let target = snapshot.slots.get_key_value(&request.facade);
        let audited = AuditRequest::from_input(&request.facade, &request.input);
        let answered = |origin: &CallOrigin, envelope: Envelope| {
            let request = audit::AnsweredRequest { origin, target, request: audited, envelope: &envelope };
            request.record(&self.state.meters);
            Exec::answered(envelope)
        };
        let long = plan::has_large_arguments(&request.input);
        let planning = origin.span.begin(SpanKind::Internal, || names::PLAN_SPAN.to_owned());
        let planned = run_cpu_bound(long, || {
            plan::plan_request(snapshot, request, view, (&origin.rights, origin.list))
        });
        planning.finish(planned.refusal().and_then(|code| CallOutcome::from_code(code).error_type()));
        let refusal = self.state.refusal();
        if let (Some(failure), plan::CallPlan::Run(_) | plan::CallPlan::Batch(_)) = (refusal, &planned) {
            let command = Command { key: "action", name: None };
            return answered(&origin, Envelope::new(command, Err(failure)));
        }
        match planned {
            plan::CallPlan::Answer(envelope) => answered(&origin, *envelope),
            plan::CallPlan::Description(entry, mut envelope) => {
                if let Ok(reply) = &mut envelope.outcome {
                    let reads_file = entry.logins.is_some();
                    run_cpu_bound(reads_file, || {
                        reply.data.change(|data| login::add_to_description(&entry, &origin, data));
                    });
                }
                answered(&origin, *envelope)
            }
            plan::CallPlan::Run(planned) => Exec::begin_call(&self.state, origin, *planned),
            plan::CallPlan::Batch(batch) => Exec::begin_batch(&self.state, origin, *batch),
            plan::CallPlan::KeptResult { facade, command, handle } => {
                // A part is short, also for a caller that reads whole results.
                let budget = AnswerFit::budget(snapshot, &origin, &facade).unwrap_or(DEFAULT_ANSWER);
                let owner = ResultOwner { caller: origin.caller.clone(), facade };
                let reply = run_cpu_bound(true, || {
                    let query = ResultQuery::parse(&handle)?;
                    self.state.kept.read(&owner, &query, budget)
                });
                answered(&origin, Envelope::new(command, reply))
            }
            plan::CallPlan::AboutRun(query) => run_query::answer_query(&self.state, &origin, query),
        }
    }

    /// Takes up the runs that ended hosts have left unfinished, of the facades now served. Returns their number. Each goes on
    /// as a detached run of its caller, under its old handle.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub async fn resume_runs(&self) -> Result<usize, JournalError> {
        resumption::resume_runs(&self.state).await
    }

    /// Starts a call without a client, as a run that is recorded if the host has a journal.
    ///
    /// # Errors
    ///
    /// The failure of the call if it cannot begin: no such action, no right to it, wrong parameters; or `unavailable`, if the
    /// journal cannot be used.
    pub async fn start_call(&self, call: CallStart) -> Result<StartOutcome, Failure> {
        start::start_call(&self.state, call).await
    }

    /// Cancels the durable runs of this host for which that was requested through the journal.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub async fn cancel_requested_runs(&self) -> Result<(), JournalError> {
        resumption::cancel_requested(&self.state).await
    }

    /// Follows a detached call again. Dropping the handle cancels the call, as it did before.
    ///
    /// # Errors
    ///
    /// `not_found` for a run that does not exist, was evicted, belongs to another caller, or is of an action that this
    /// caller may no longer call. The failure does not say which of these it is.
    pub fn attach(&self, id: &RunId, who: &CallOrigin) -> Result<Exec, Failure> {
        let run = self.state.runs.get(id).filter(|run| run.is_visible_to(who));
        let run = run.ok_or_else(failures::run_not_found)?;
        let fit = AnswerFit::of_call(&self.state, &self.state.catalog.snapshot(), who, &run.facade);
        Ok(Exec::attached(Arc::clone(&self.state), id.clone(), run).with_fit(fit))
    }

    /// Finds a run of this caller, without following it. Errors are those of [`attach`](Self::attach).
    pub fn find_run(&self, id: &RunId, who: &CallOrigin) -> Result<RunHandle, Failure> {
        let run = self.state.runs.get(id).filter(|run| run.is_visible_to(who));
        run.map(RunHandle::new).ok_or_else(failures::run_not_found)
    }

    /// Finds out which host of a fleet has an unfinished run.
    pub async fn run_holder(&self, id: &RunId) -> RunHolder {
        let Some(journal) = &self.state.journal else { return RunHolder::Unknown };
        let holder = journal.holder(id.to_string()).await;
        holder.unwrap_or_else(|error| {
            tracing::error!("{error}");
            RunHolder::Unknown
        })
    }

    /// Finds the outcome of a run of this caller in the journal.
    pub async fn ended_run(&self, id: &RunId, who: &CallOrigin) -> Option<EndedRun> {
        let loaded = self.state.journal.as_ref()?.load(id.to_string()).await;
        let stored = loaded.inspect_err(|error| tracing::error!("{error}")).ok()??;
        let head = RunHead::from_bytes(&stored.run.head).ok().filter(|head| head.is_visible_to(who))?;
        let RunEnd { envelope, .. } = RunEnd::from_bytes(&stored.end?.1).ok()?;
        Some(EndedRun { facade: head.facade().to_owned(), began: head.began(), outcome: envelope })
    }

    /// Refuses new calls, waits for runs to end, and cancels those that are left after `patience`. Durable runs are left to the
    /// next start: those that wait for a person at once.
    pub async fn drain(&self, patience: Duration) {
        self.state.draining.store(true, Ordering::Relaxed);
        let all = async {
            loop {
                let mut running = self.state.runs.unfinished_runs();
                running.retain(|run| !run.outlives_host() || run.status() != RunStatus::Waiting);
                // At shutdown no client is left to answer.
                let waiting = running.iter().filter(|run| run.status() == RunStatus::Waiting);
                waiting.for_each(|run| run.cancel.cancel());
                let Some(run) = running.first() else { return };
                run.wait_until_ended().await;
            }
        };
        if tokio::time::timeout(patience, all).await.is_ok() {
            return;
        }
        let mut left = self.state.runs.unfinished_runs();
        left.retain(|run| !run.outlives_host());
        if left.is_empty() {
            return;
        }
        tracing::warn!("shutdown: cancelling {} unfinished runs", left.len());
        left.iter().for_each(|run| run.cancel.cancel());
        let all = async {
            for run in &left {
                run.wait_until_ended().await;
            }
        };
        let _ = tokio::time::timeout(CANCEL_TIMEOUT, all).await;
    }
}

/// Time that cancelled calls have to end.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);
