//! Pure: renders replies about runs.

use loggia_facade::{Command, Envelope, Next, Object, Reply};
use serde_json::json;

use super::{
    id::RunId,
    state::CallState,
    status::{RunStatus, render_progress},
};

use crate::journal::RunEnd;

/// Poll interval that clients are advised to use.
const POLL_MS: u64 = 1000;
/// The same while a person decides outside of the client.
const APPROVAL_POLL_MS: u64 = 10_000;

/// Renders a run as an item of a list, without its result.
pub(crate) fn render_summary(id: &RunId, run: &CallState) -> Object {
    let status = run.status();
    let mut out = Object::new();
    out.insert("id".into(), id.to_string().into());
    out.insert("action".into(), run.command.name.clone().into());
    out.insert("status".into(), status.as_str().into());
    if let Some(last) = run.latest_progress() {
        let mut fields = render_progress(last.done, last.total);
        if let Some(message) = last.message {
            fields["message"] = message.into();
        }
        out.insert("progress".into(), fields);
    }
    let questions = run.question_texts();
    if !questions.is_empty() {
        out.insert("waiting_for".into(), questions.into());
    }
    out
}

/// Renders a run with its result, once it has one, and the content blocks of that result.
pub(crate) fn render_run(id: &RunId, run: &CallState, include_trace: bool) -> Reply {
    let mut fields = render_summary(id, run);
    let mut content = Vec::new();
    match run.outcome() {
        Some(envelope) => {
            let (result, blocks) = envelope.into_parts();
            fields.insert("result".into(), result.into());
            content = blocks;
        }
        None => {
            let poll = if run.awaits_approval() { APPROVAL_POLL_MS } else { POLL_MS };
            fields.insert("poll_after_ms".into(), poll.into());
        }
    }
    if include_trace {
        fields.insert("trace".into(), run.render_trace());
    }
    Reply { data: json!({ "run": fields }).into(), content, ..Reply::default() }
}

/// Renders a run of which only the journal knows as an item of a list.
pub(crate) fn render_recorded_summary(id: &str, action: &str, end: Option<&RunEnd>) -> Object {
    let status = end.map_or(RunStatus::Running, |end| RunStatus::from_envelope(&end.envelope));
    let mut fields = Object::new();
    fields.insert("id".into(), id.into());
    fields.insert("action".into(), action.into());
    fields.insert("status".into(), status.as_str().into());
    fields
}

/// Renders a run of which only the journal knows, with its end, if it has ended.
pub(crate) fn render_recorded(id: &str, action: &str, end: Option<RunEnd>, include_trace: bool) -> Reply {
    let mut fields = render_recorded_summary(id, action, end.as_ref());
    let mut content = Vec::new();
    match end {
        Some(RunEnd { envelope, trace }) => {
            let (result, blocks) = envelope.into_parts();
            fields.insert("result".into(), result.into());
            content = blocks;
            if include_trace {
                fields.insert("trace".into(), trace);
            }
        }
        None => {
            fields.insert("poll_after_ms".into(), POLL_MS.into());
        }
    }
    Reply { data: json!({ "run": fields }).into(), content, ..Reply::default() }
}

/// Renders the envelope of a call that continues as a run.
pub(crate) fn render_detached(id: &RunId, run: &CallState) -> Envelope {
    let mut params = Object::new();
    params.insert("run_id".into(), id.to_string().into());
    params.insert("wait".into(), true.into());
    let next = Next { facade: run.facade.clone(), action: "run_status".into(), params, reason: None };
    let name = run.command.name.as_deref().unwrap_or("the call");
    let message = match run.awaits_approval() {
        true => format!("`{name}` waits for a person's approval; `run_status` returns its state and result"),
        false => format!("`{name}` continues as a run; `run_status` returns its state and result"),
    };
    let reply = Reply { message: Some(message), next: Some(next), ..render_run(id, run, false) };
    let envelope = Envelope::new(run.command.clone(), Ok(reply));
    Envelope { resolved_inputs: run.inputs().clone(), run: Some(id.to_string()), ..envelope }
}

/// Renders the envelope of `run_status`.
pub(crate) fn render_status(command: Command, id: &RunId, run: &CallState, include_trace: bool) -> Envelope {
    let reply = render_run(id, run, include_trace);
    Envelope { run: Some(id.to_string()), ..Envelope::new(command, Ok(reply)) }
}
