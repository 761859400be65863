//! MCP's tasks extension (SEP-2663) over the gate's runs, for clients that declare it.

use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};
use loggia_facade::{Envelope, Progress, QuestionKind};
use loggia_gate::{
    catalog::CatalogSnapshot,
    journal::EndedRun,
    run::{RUN_TTL, RunHandle, RunId, RunStatus},
};
use rmcp::{
    ErrorData,
    model::{
        CancelTaskParams, CreateTaskResult, DetailedTask, GetTaskParams, GetTaskResult, Task, TaskPayload,
        TaskStatus, UpdateTaskParams,
    },
};
use serde_json::Value;

use super::{
    call_reference::CallReference,
    elicitation::{self, ElicitationSupport},
    handler::{McpContext, McpHandler},
    result::to_result,
    view::ClientView,
};

/// Interval at which a client should poll.
const POLL_MS: u64 = 1000;

/// Result for a call that continues as a task.
pub fn to_created(id: &RunId) -> CreateTaskResult {
    CreateTaskResult::new(to_task(id, TaskStatus::Working, SystemTime::now(), None))
}

/// Converts a run to the state of its task. Links are shown to clients that open them.
pub fn to_task_result(
    id: &RunId,
    run: &RunHandle,
    (snapshot, view): (&CatalogSnapshot, ClientView),
    opens_links: bool,
    fit: impl FnOnce(Envelope) -> Envelope,
) -> GetTaskResult {
    let payload = match run.status() {
        RunStatus::Running => TaskPayload::Working,
        RunStatus::Waiting => {
            let mut asks = run.open_questions();
            let waits_for_client = !asks.is_empty();
            asks.retain(|_, question| opens_links || !matches!(question.kind, QuestionKind::Link { .. }));
            match waits_for_client {
                true => TaskPayload::InputRequired { input_requests: elicitation::to_input_requests(&asks) },
                // An operator decides; the client has nothing to answer.
                false => TaskPayload::Working,
            }
        }
        RunStatus::Cancelled => TaskPayload::Cancelled,
        RunStatus::Succeeded | RunStatus::Failed => run.outcome().map_or(TaskPayload::Cancelled, |outcome| {
            to_ended_payload(fit(outcome), snapshot, run.facade(), view)
        }),
    };
    GetTaskResult::new(DetailedTask::new(to_task(id, payload.status(), run.began(), run.progress()), payload))
}

/// Converts a run that has ended, at this server or another one, to the state of its task.
pub fn to_ended_task(
    id: &RunId,
    run: EndedRun,
    snapshot: &CatalogSnapshot,
    view: ClientView,
) -> GetTaskResult {
    let payload = to_ended_payload(run.outcome, snapshot, &run.facade, view);
    GetTaskResult::new(DetailedTask::new(to_task(id, payload.status(), run.began, None), payload))
}

/// Converts an outcome. A failure is a result with `isError`.
fn to_ended_payload(
    outcome: Envelope,
    snapshot: &CatalogSnapshot,
    facade: &str,
    view: ClientView,
) -> TaskPayload {
    if RunStatus::from_envelope(&outcome) == RunStatus::Cancelled {
        return TaskPayload::Cancelled;
    }
    match serde_json::to_value(to_result(outcome, snapshot, facade, view)) {
        Ok(Value::Object(result)) => TaskPayload::Completed { result },
        _ => TaskPayload::Cancelled,
    }
}

fn to_task(id: &RunId, status: TaskStatus, began: SystemTime, progress: Option<Progress>) -> Task {
    let at = |time| DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Millis, true);
    let ttl = u64::try_from(RUN_TTL.as_millis()).unwrap_or(u64::MAX);
    let task = Task::new(id.to_string(), status, at(began), at(SystemTime::now()))
        .with_ttl_ms(ttl)
        .with_poll_interval_ms(POLL_MS);
    match progress.and_then(|progress| progress.message) {
        Some(message) => task.with_status_message(message),
        None => task,
    }
}

/// Error for a task that does not exist, or belongs to another caller.
pub fn unknown_task() -> ErrorData {
    ErrorData::invalid_params("Unknown task: ended tasks are kept for an hour at least", None)
}

fn task_reference(id: &str) -> CallReference {
    CallReference { run: RunId::from_client(id), host: None }
}

impl McpHandler {
    /// Answers `tasks/get`.
    pub(super) async fn answer_task(
        &self,
        request: GetTaskParams,
        context: &McpContext,
    ) -> Result<GetTaskResult, ErrorData> {
        let call = task_reference(&request.task_id);
        if let Some(answer) = self.ask_host(call, "tasks/get", &request, context).await {
            return answer;
        }
        let gate = &self.shared.gate;
        let (id, run) = match self.find_task(&request.task_id, context) {
            Ok(found) => found,
            Err(unknown) => {
                let (id, origin) = (RunId::from_client(&request.task_id), self.origin(context));
                let mut ended = gate.ended_run(&id, &origin).await.ok_or(unknown)?;
                ended.outcome = gate.fit_answer(ended.outcome, &ended.facade, &origin);
                return Ok(to_ended_task(&id, ended, &gate.catalog().snapshot(), self.view(context)));
            }
        };
        let opens_links = ElicitationSupport::of_client(context).links;
        let view = self.view(context);
        let fit = |outcome| gate.fit_answer(outcome, run.facade(), &self.origin(context));
        Ok(to_task_result(&id, &run, (&gate.catalog().snapshot(), view), opens_links, fit))
    }

    /// Answers `tasks/update`.
    pub(super) async fn answer_task_update(
        &self,
        request: UpdateTaskParams,
        context: &McpContext,
    ) -> Result<(), ErrorData> {
        let call = task_reference(&request.task_id);
        if let Some(answer) = self.ask_host::<Value>(call, "tasks/update", &request, context).await {
            return answer.map(drop);
        }
        let (_, run) = self.find_task(&request.task_id, context)?;
        let sent = request.input_responses.len();
        let answers: Vec<_> = elicitation::parse_answers(request.input_responses).collect();
        if answers.len() < sent {
            let message =
                "an input response takes `action`: accept, decline or cancel, and `content`, an object";
            return Err(ErrorData::invalid_params(message, None));
        }
        for (key, answer) in answers {
            if !run.answer(&key, answer) {
                let key: String = key.chars().take(80).collect();
                return Err(ErrorData::invalid_params(format!("No such question is open: {key:?}"), None));
            }
        }
        Ok(())
    }

    /// Answers `tasks/cancel`.
    pub(super) async fn answer_task_cancellation(
        &self,
        request: CancelTaskParams,
        context: &McpContext,
    ) -> Result<(), ErrorData> {
        let call = task_reference(&request.task_id);
        if let Some(answer) = self.ask_host::<Value>(call, "tasks/cancel", &request, context).await {
            return answer.map(drop);
        }
        let (_, run) = self.find_task(&request.task_id, context)?;
        run.cancel();
        Ok(())
    }
}
