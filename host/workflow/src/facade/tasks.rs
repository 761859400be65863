//! Active calls and questions of a run.

use std::collections::HashMap;

use futures_util::{
    FutureExt, StreamExt,
    future::{AbortHandle, Abortable, BoxFuture},
    stream::FuturesUnordered,
};
use loggia_facade::{Answer, Failure, Input, Question, Request, Session};
use serde_json::json;

use crate::engine::{RunEvent, TaskId};

/// Active tasks of a run, with handles to cancel them.
pub(super) struct RunTasks {
    /// Session of the workflow's call. All calls and questions go through it, so that they carry the caller's rights
    /// and end with the call.
    session: Session,
    /// Futures of the active tasks. Only [`RunTasks::next`] polls them, in the task of the workflow's own call: nothing
    /// is spawned, so dropping the run drops every nested call with it. A cancelled future stays in the set until its
    /// next poll, yields no event, and is skipped.
    running: FuturesUnordered<BoxFuture<'static, (TaskId, Option<RunEvent>)>>,
    /// Handles of the futures in `running`. A handle is removed when its task ends or is cancelled, so a late
    /// cancellation of an ended task does nothing.
    handles: HashMap<TaskId, AbortHandle>,
}

impl RunTasks {
    pub(super) fn new(session: Session) -> Self {
        Self { session, running: FuturesUnordered::new(), handles: HashMap::new() }
    }

    fn begin(&mut self, task: TaskId, event: impl Future<Output = RunEvent> + Send + 'static) {
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(task, handle);
        let event = Abortable::new(event, registration).map(move |event| (task, event.ok()));
        self.running.push(event.boxed());
    }

    pub(super) fn call(&mut self, task: TaskId, request: Request) {
        let session = self.session.clone();
        self.begin(task, async move {
            match session.invoke(request).await {
                Ok(reply) => RunEvent::replied(task, reply),
                Err(stop) => RunEvent::failed(task, Failure::from(stop)),
            }
        });
    }

    /// Asks a person whether an interrupted call is made again, and makes it if so.
    pub(super) fn ask_and_call(&mut self, task: TaskId, request: Request) {
        let session = self.session.clone();
        self.begin(task, async move {
            if !matches!(session.elicit(repetition_question(&request)).await, Ok(answer) if says_again(&answer)) {
                return RunEvent::Interrupted(task);
            }
            match session.invoke(request).await {
                Ok(reply) => RunEvent::replied(task, reply),
                Err(stop) => RunEvent::failed(task, Failure::from(stop)),
            }
        });
    }

    pub(super) fn ask(&mut self, task: TaskId, question: Question) {
        let session = self.session.clone();
        self.begin(task, async move {
            match session.elicit(question).await {
                Ok(answer) => RunEvent::answered(task, answer),
                Err(failure) => RunEvent::failed(task, failure),
            }
        });
    }

    /// Cancels a task. Dropping a call ends it together with its nested calls.
    pub(super) fn cancel(&mut self, task: TaskId) {
        if let Some(handle) = self.handles.remove(&task) {
            handle.abort();
        }
    }

    /// Waits for the next event; never resolves while no task is active.
    pub(super) async fn next(&mut self) -> RunEvent {
        loop {
            let Some((task, event)) = self.running.next().await else { std::future::pending().await };
            if let Some(event) = event {
                self.handles.remove(&task);
                return event;
            }
        }
    }
}

/// Question about a call that was interrupted.
fn repetition_question(request: &Request) -> Question {
    let action = match &request.input {
        Input::Action { action, .. } => action.as_str(),
        Input::Arguments(_) => "",
    };
    let message = format!(
        "the host stopped while `{}.{action}` ran, so it is unknown whether it took effect. Is it made again?",
        request.facade
    );
    let schema = json!({"type": "object", "required": ["again"], "properties": {
        "again": {"type": "boolean", "description": "true: make the call again. false: the step fails"}}});
    Question::form(message, schema.as_object().cloned().unwrap_or_default())
}

fn says_again(answer: &Answer) -> bool {
    matches!(answer, Answer::Accepted(form) if form["again"] == true)
}
