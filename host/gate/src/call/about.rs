//! What the host answers about runs.

use std::sync::Arc;

use loggia_facade::{Command, Envelope, Failure, Page, Reply, code};
use loggia_schema::ToolView;
use serde_json::{Value, json};

use super::{
    exec::{Exec, Watch},
    shared::Shared,
};
use crate::{
    access::{Caller, Origin},
    catalog::Entry,
    plan::{AboutRun, Wanted},
    run::{Run, RunId, refusal, report},
};

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
            Ok((id, run)) => Exec::answered(report::told(command, &id, &run, include_trace)),
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

fn may_end(entry: &Entry, run: &Run, view: &ToolView) -> bool {
    let action = run.command.name.as_deref().unwrap_or_default();
    entry.contract.can_cancel(action, view)
}

fn list(shared: &Shared, origin: &Origin, facade: &str, command: Command) -> Envelope {
    if origin.caller == Caller::Anonymous {
        let said = "`run_id` is required: callers without a name have no list of runs";
        let failure = Failure::new(code::INVALID_PARAMS, said);
        return Envelope::new(command, Err(failure.hint("give the id that the call was answered with")));
    }
    let runs: Vec<Value> =
        shared.runs.of(origin, facade).iter().map(|(id, run)| report::brief(id, run).into()).collect();
    let page = Page { count: u64::try_from(runs.len()).ok(), ..Page::default() };
    let reply = Reply { data: json!({ "runs": runs }), page: Some(page), ..Reply::default() };
    Envelope::new(command, Ok(reply))
}

/// A call that was told to end ends a moment later; the caller can see it by `run_status`.
fn cancel(command: Command, id: &RunId, run: &Run) -> Envelope {
    let message = if run.ended().is_some() { "the run had ended already" } else { "the run is being ended" };
    run.cancel.cancel();
    let reply = Reply { message: Some(message.to_owned()), ..report::whole(id, run, false) };
    Envelope::new(command, Ok(reply))
}

/// The caller's run of that handle. Whether a run does not exist, was forgotten or is somebody else's is not told.
fn find(shared: &Shared, origin: &Origin, facade: &str, run_id: &str) -> Result<(RunId, Arc<Run>), Failure> {
    let id = RunId::from_client(run_id);
    let run = shared.runs.get(&id).filter(|run| run.is_for(origin) && run.is_listed());
    let run = run.ok_or_else(refusal::no_such_run)?;
    let own = &run.facade;
    if own != facade {
        let hint = format!("it is a run of `{own}`: ask the tool `{own}`");
        return Err(refusal::no_such_run().hint(hint));
    }
    Ok((id, run))
}
