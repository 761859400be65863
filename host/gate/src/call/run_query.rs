//! Answers to `run_status` and `run_cancel`.

use std::sync::Arc;

use futures_util::FutureExt;
use loggia_facade::{Command, Envelope, Failure, Page, Reply};
use loggia_schema::ToolView;
use serde_json::{Value, json};

use super::{
    exec::{Exec, RunWatch},
    gate_state::GateState,
};
use crate::{
    access::{CallOrigin, Caller},
    catalog::CatalogEntry,
    failures,
    journal::{Journal, RunEnd, RunHead},
    plan::{RunQuery, RunRequest},
    run::{CallState, RunId, report},
};

/// Answers a query about runs. A `run_status` with `wait` is answered when its run ends.
pub(super) fn answer_query(gate: &GateState, origin: &CallOrigin, query: RunQuery) -> Exec {
    let RunQuery { entry, command, request, view } = query;
    let facade = &entry.surface().name;
    match request {
        RunRequest::List => Exec::answered(list_runs(gate, origin, facade, command)),
        RunRequest::Status { run_id, include_trace, wait } => match find_run(gate, origin, facade, &run_id) {
            Err(failure) => match gate.journal.clone() {
                Some(journal) => {
                    let (origin, facade) = (origin.clone(), facade.clone());
                    Exec::recorded(
                        async move {
                            let found =
                                find_recorded(&*journal, &origin, &facade, run_id, include_trace).await;
                            Envelope::new(command, found.ok_or(failure))
                        }
                        .boxed(),
                    )
                }
                None => Exec::answered(Envelope::new(command, Err(failure))),
            },
            Ok((id, run)) if wait && run.ended_at().is_none() => {
                Exec::watching(RunWatch { command, id, state: run, include_trace })
            }
            Ok((id, run)) => Exec::answered(report::render_status(command, &id, &run, include_trace)),
        },
        RunRequest::Cancel { run_id } => Exec::answered(match find_run(gate, origin, facade, &run_id) {
            Err(failure) => Envelope::new(command, Err(failure)),
            Ok((_, run)) if !may_cancel(&entry, &run, &view) => {
                let failure = failures::denied("this tool does not show the action that the run is of");
                Envelope::new(command, Err(failure.hint("cancel it through the tool that started it")))
            }
            Ok((id, run)) => cancel_run(command, &id, &run),
        }),
    }
}

/// Renders a run of which only the journal knows: it ended before the last restart, or another host runs it.
async fn find_recorded(
    journal: &dyn Journal,
    origin: &CallOrigin,
    facade: &str,
    run_id: String,
    include_trace: bool,
) -> Option<Reply> {
    let stored = journal.load(run_id).await.inspect_err(|error| tracing::error!("{error}")).ok()??;
    let head = RunHead::from_bytes(&stored.run.head).ok()?;
    (head.facade() == facade && head.is_visible_to(origin)).then(|| {
        let end = stored.end.and_then(|(_, end)| RunEnd::from_bytes(&end).ok());
        report::render_recorded(&stored.run.id, head.action(), end, include_trace)
    })
}

fn may_cancel(entry: &CatalogEntry, run: &CallState, view: &ToolView) -> bool {
    let action = run.command.name.as_deref().unwrap_or_default();
    entry.contract.can_cancel(action, view)
}

fn list_runs(gate: &GateState, origin: &CallOrigin, facade: &str, command: Command) -> Envelope {
    if origin.caller == Caller::Anonymous {
        let message = "`run_id` is required: anonymous callers have no list of runs";
        let failure = failures::invalid_params(message);
        return Envelope::new(command, Err(failure.hint("give the id that the call was answered with")));
    }
    let runs: Vec<Value> = gate
        .runs
        .list(origin, facade)
        .iter()
        .map(|(id, run)| report::render_summary(id, run).into())
        .collect();
    let page = Page { count: u64::try_from(runs.len()).ok(), ..Page::default() };
    let reply = Reply { data: json!({ "runs": runs }).into(), page: Some(page), ..Reply::default() };
    Envelope::new(command, Ok(reply))
}

/// Cancels a run. It ends a moment later; `run_status` shows when.
fn cancel_run(command: Command, id: &RunId, run: &CallState) -> Envelope {
    let message =
        if run.ended_at().is_some() { "the run had already ended" } else { "the run is being cancelled" };
    run.cancel.cancel();
    let reply = Reply { message: Some(message.to_owned()), ..report::render_run(id, run, false) };
    Envelope::new(command, Ok(reply))
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
