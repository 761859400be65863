//! Answers to `run_status` and `run_cancel`.

use std::sync::Arc;

use futures_util::FutureExt;
use loggia_facade::{Command, Envelope, Failure, Page, Reply};
use loggia_schema::ToolView;
use serde_json::{Value, json};

use super::{
    exec::{Exec, RunWatch},
    gate_state::GateState,
    recorded_runs::{CANCELLING, ENDED, RecordedQuery},
};
use crate::{
    access::{CallOrigin, Caller},
    catalog::CatalogEntry,
    failures,
    plan::{RunQuery, RunRequest},
    run::{CallState, RunId, report},
};

/// Answers a query about runs. A `run_status` with `wait` is answered when its run ends.
pub(super) fn answer_query(gate: &Arc<GateState>, origin: &CallOrigin, query: RunQuery) -> Exec {
    let RunQuery { entry, command, request, view } = query;
    let recorded = gate.journal.clone().map(|journal| RecordedQuery {
        gate: Arc::clone(gate),
        journal,
        origin: origin.clone(),
        entry: Arc::clone(&entry),
    });
    let facade = &entry.surface().name;
    match request {
        RunRequest::List => list_runs(gate, origin, facade, command, recorded),
        RunRequest::Status { run_id, include_trace, wait } => match find_run(gate, origin, facade, &run_id) {
            Err(failure) => answer_recorded(command, failure, recorded, async move |recorded| {
                recorded.render_status(&run_id, include_trace, wait).await.map(Ok)
            }),
            Ok((id, run)) if wait && run.ended_at().is_none() => {
                Exec::watching(RunWatch { command, id, state: run, include_trace })
            }
            Ok((id, run)) => Exec::answered(report::render_status(command, &id, &run, include_trace)),
        },
        RunRequest::Cancel { run_id } => match find_run(gate, origin, facade, &run_id) {
            Err(failure) => answer_recorded(command, failure, recorded, async move |recorded| {
                recorded.cancel(&run_id, &view).await
            }),
            Ok((_, run)) if !may_cancel(&entry, &run, &view) => {
                Exec::answered(Envelope::new(command, Err(failures::cancel_elsewhere())))
            }
            Ok((id, run)) => Exec::answered(cancel_run(command, &id, &run)),
        },
    }
}

/// Answers with what the journal knows; with this failure if that is nothing.
fn answer_recorded<F>(
    command: Command,
    failure: Failure,
    recorded: Option<RecordedQuery>,
    look: impl FnOnce(RecordedQuery) -> F,
) -> Exec
where
    F: Future<Output = Option<Result<Reply, Failure>>> + Send + 'static,
{
    let Some(found) = recorded.map(look) else { return Exec::answered(Envelope::new(command, Err(failure))) };
    Exec::recorded(async move { Envelope::new(command, found.await.unwrap_or(Err(failure))) }.boxed())
}

fn may_cancel(entry: &CatalogEntry, run: &CallState, view: &ToolView) -> bool {
    let action = run.command.name.as_deref().unwrap_or_default();
    entry.contract.can_cancel(action, view)
}

fn list_runs(
    gate: &GateState,
    origin: &CallOrigin,
    facade: &str,
    command: Command,
    recorded: Option<RecordedQuery>,
) -> Exec {
    if origin.caller == Caller::Anonymous {
        let message = "`run_id` is required: anonymous callers have no list of runs";
        let failure = failures::invalid_params(message);
        let failure = failure.hint("give the id that the call was answered with");
        return Exec::answered(Envelope::new(command, Err(failure)));
    }
    let own = gate.runs.list(origin, facade);
    let mut runs: Vec<Value> = own.iter().map(|(id, run)| report::render_summary(id, run).into()).collect();
    let render = |command: Command, runs: Vec<Value>| {
        let page = Page { count: u64::try_from(runs.len()).ok(), ..Page::default() };
        let reply = Reply { data: json!({ "runs": runs }).into(), page: Some(page), ..Reply::default() };
        Envelope::new(command, Ok(reply))
    };
    let Some(recorded) = recorded else { return Exec::answered(render(command, runs)) };
    let known: Vec<String> = own.iter().map(|(id, _)| id.to_string()).collect();
    let listing = async move {
        runs.extend(recorded.render_list(&known).await);
        render(command, runs)
    };
    Exec::recorded(listing.boxed())
}

/// Cancels a run. It ends a moment later; `run_status` shows when.
fn cancel_run(command: Command, id: &RunId, run: &CallState) -> Envelope {
    let message = if run.ended_at().is_some() { ENDED } else { CANCELLING };
    run.cancel.cancel();
    let reply = Reply { message: Some(message.to_owned()), ..report::render_run(id, run, false) };
    Envelope { run: Some(id.to_string()), ..Envelope::new(command, Ok(reply)) }
}

/// Finds the caller's run by its handle. The failure does not say whether the run is unknown, evicted or another caller's.
fn find_run(
    gate: &GateState,
    origin: &CallOrigin,
    facade: &str,
    run_id: &str,
) -> Result<(RunId, Arc<CallState>), Failure> {
    let id = RunId::from_client(run_id);
    let run = gate.runs.get(&id).filter(|run| run.is_visible_to(origin) && run.is_run());
    let run = run.ok_or_else(failures::run_not_found)?;
    let own = &run.facade;
    if own != facade {
        let hint = format!("it is a run of `{own}`: ask the tool `{own}`");
        return Err(failures::run_not_found().hint(hint));
    }
    Ok((id, run))
}
