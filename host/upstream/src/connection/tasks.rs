//! Calls that the server runs as tasks (2025-11-25): it answers with a task, and has the result when the task has ended.

use std::{convert::Infallible, time::Duration};

use loggia_facade::{Progress, Session};
use loggia_text::sanitise_line;
use rmcp::model::{CallToolRequestParams, ClientRequest, CustomRequest};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::open::{CallEnd, OpenConnection};

/// Time for which the server should keep a task, in milliseconds. Calls are shorter.
const KEPT_MS: u64 = 60 * 60 * 1000;
/// Interval of asking for a task's status, whatever the server suggests.
const POLL: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];
/// Interval if the server suggests none.
const USUAL_POLL: Duration = Duration::from_secs(2);
/// Bytes of a status message.
const STATUS: usize = 400;

impl OpenConnection {
    /// Calls a tool as a task and waits for its result. Status messages are reported as progress. Dropping the future cancels
    /// the task.
    pub(crate) async fn call_as_task(
        &self,
        params: CallToolRequestParams,
        session: &Session,
    ) -> Result<Value, CallEnd> {
        let mut params = serde_json::to_value(params).map_err(|error| CallEnd::Closed(error.to_string()))?;
        params["task"] = json!({"ttl": KEPT_MS});
        let created = self.request(custom("tools/call", params), session).await?;
        let Some(task) = created.pointer("/task/taskId").and_then(Value::as_str) else {
            // It answered at once.
            return Ok(created);
        };
        let poll = created.pointer("/task/pollInterval").and_then(Value::as_u64);
        let poll = poll.map_or(USUAL_POLL, Duration::from_millis).clamp(POLL[0], POLL[1]);
        let mut guard = TaskGuard { connection: self, task, is_done: false };
        // Blocks until the task has ended. Questions of the task come meanwhile.
        let result = self.request(custom("tasks/result", json!({"taskId": task})), session);
        let result = tokio::select! {
            biased;
            result = result => result,
            never = self.report_status(task, poll, session) => match never {},
        };
        guard.is_done = true;
        result
    }

    /// Reports changed status messages of a task, without end.
    async fn report_status(&self, task: &str, poll: Duration, session: &Session) -> Infallible {
        let mut last = None;
        let mut changes: u32 = 0;
        loop {
            sleep(poll).await;
            let Some(status) = self.task_status(task).await else { continue };
            let message = status.get("statusMessage").and_then(Value::as_str);
            let message = message.map(|text| sanitise_line(text, STATUS)).filter(|text| !text.is_empty());
            if message.is_some() && message != last {
                changes += 1;
                session.progress(Progress {
                    done: f64::from(changes),
                    total: None,
                    message: message.clone(),
                });
                last = message;
            }
        }
    }

    async fn task_status(&self, task: &str) -> Option<Value> {
        let asked = self.peer().send_request(custom("tasks/get", json!({"taskId": task}))).await;
        serde_json::to_value(asked.ok()?).ok()
    }
}

fn custom(method: &str, params: Value) -> ClientRequest {
    ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)))
}

/// Cancels a task that is dropped before its result.
struct TaskGuard<'a> {
    connection: &'a OpenConnection,
    task: &'a str,
    is_done: bool,
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let peer = self.connection.peer().clone();
        let request = custom("tasks/cancel", json!({"taskId": self.task}));
        self.connection.runtime().spawn(async move {
            // A closed connection has no tasks left, and a task may have ended meanwhile.
            let _ = peer.send_request(request).await;
        });
    }
}
