//! What the host answers about runs.

use std::{collections::BTreeSet, sync::Arc};

use loggia_facade::{Command, Envelope, Failure, Page, Reply, code};
use loggia_schema::View;
use serde_json::{Value, json};

use super::{
    Caller, Exec, Origin, Shared,
    exec::Watch,
    handle::RunId,
    plan::{AboutRun, Wanted},
    run::Run,
    status,
};
use crate::catalog::Entry;

/// Answers a question about a run, or begins to wait with the answer.
pub fn about(shared: &Shared, origin: &Origin, asked: AboutRun) -> Exec {
    let AboutRun { entry, command, wanted, view } = asked;
    let facade = &entry.surface().name;
    match wanted {
        Wanted::List => Exec::answered(list(shared, origin, facade, command)),
        Wanted::Status { run_id, include_trace, wait } => match find(shared, origin, facade, &run_id) {
            Err(failure) => Exec::answered(Envelope::new(command, Err(failure))),
            Ok((id, run)) if wait && run.ended().is_none() => {
                Exec::watching(Watch { command, id, run, include_trace })
            }
            Ok((id, run)) => Exec::answered(status::told(command, &id, &run, include_trace)),
        },
        Wanted::Cancel { run_id } => Exec::answered(match find(shared, origin, facade, &run_id) {
            Err(failure) => Envelope::new(command, Err(failure)),
            Ok((_, run)) if !may_end(&entry, &run, &view) => {
                let said = "access denied: this tool does not show the action that the run is of";
                let failure = Failure::new(code::DENIED, said);
                Envelope::new(command, Err(failure.hint("end it through the tool that began it")))
            }
            Ok((id, run)) => cancel(command, &id, &run),
        }),
    }
}

fn may_end(entry: &Entry, run: &Run, view: &View) -> bool {
    let action = run.command.name.as_deref().unwrap_or_default();
    entry.contract.may_end(action, view)
}

fn list(shared: &Shared, origin: &Origin, facade: &str, command: Command) -> Envelope {
    if origin.caller == Caller::Anonymous {
        let said = "`run_id` is required: callers without a name have no list of runs";
        let failure = Failure::new(code::INVALID_PARAMS, said);
        return Envelope::new(command, Err(failure.hint("give the id that the call was answered with")));
    }
    let runs: Vec<Value> =
        shared.runs.of(origin, facade).iter().map(|(id, run)| status::brief(id, run).into()).collect();
    let page = Page { count: u64::try_from(runs.len()).ok(), ..Page::default() };
    let reply = Reply { data: json!({ "runs": runs }), page: Some(page), ..Reply::default() };
    Envelope::new(command, Ok(reply))
}

/// A call that was told to end ends a moment later; the caller can see it by `run_status`.
fn cancel(command: Command, id: &RunId, run: &Run) -> Envelope {
    let message = if run.ended().is_some() { "the run had ended already" } else { "the run is being ended" };
    run.cancel.cancel();
    let reply = Reply { message: Some(message.to_owned()), ..status::whole(id, run, false) };
    Envelope::new(command, Ok(reply))
}

/// The caller's run of that handle. Whether a run does not exist, was forgotten or is somebody else's is not told.
fn find(shared: &Shared, origin: &Origin, facade: &str, run_id: &str) -> Result<(RunId, Arc<Run>), Failure> {
    let id = RunId::from_client(run_id);
    let run = shared.runs.get(&id).filter(|run| run.is_for(origin) && run.is_listed());
    let run = run.ok_or_else(no_such_run)?;
    let own = &run.facade;
    if own != facade {
        let hint = format!("it is a run of `{own}`: ask the tool `{own}`");
        return Err(no_such_run().hint(hint));
    }
    Ok((id, run))
}

/// Says that there is no such run.
pub fn no_such_run() -> Failure {
    Failure::new(code::NOT_FOUND, "not found: no such run")
        .hint("runs are kept for an hour, and not across a restart of the server")
}

/// Says that a caller has as many unfinished runs as it may, and how to see and end them.
pub fn too_many(now: usize, tools: &BTreeSet<String>) -> Failure {
    let said = format!("busy: {now} runs of yours have not ended, and a caller may have no more at once");
    let names: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    let of = if names.is_empty() { String::new() } else { format!(" (of {})", names.join(", ")) };
    let hint = format!(
        "`run_status` shows them{of}, without `run_id` all of a tool's; `run_cancel` ends one. Or wait until one has \
         ended. The operator can raise `http.per-caller.runs`."
    );
    let failure = Failure::new(code::UNAVAILABLE, said).hint(hint);
    let details = json!({ "unfinished": now, "tools": tools });
    Failure { retry_after_ms: Some(5000), details: Some(details), ..failure }
}
