//! Active calls and questions of a run.

use std::{
    collections::{HashMap, HashSet},
    pin::pin,
};

use futures_util::{
    FutureExt, StreamExt,
    future::{AbortHandle, Abortable, BoxFuture, select},
    stream::FuturesUnordered,
};
use loggia_facade::{Answer, Failure, Input, Question, Reply, Request, Session, Stop, trace::ActiveSpan};
use serde_json::json;
use tokio::sync::oneshot;

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
    /// Handles of the futures in `running`. A handle is removed when its task ends or is dropped, so a late end of an ended
    /// task does nothing.
    handles: HashMap<TaskId, TaskHandle>,
    /// Tasks that were told to end, and whose results nobody needs.
    ending: HashSet<TaskId>,
}

/// Ways in which a call ends before its time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEnding {
    /// It is dropped.
    AtOnce,
    /// It is cancelled, also when the workflow's call is, and ends when it has undone what it did.
    WithCaller,
    /// It is cancelled, but not with the workflow's call, and ends when it has undone what it did.
    WhenCancelled,
    /// It goes on, also when the workflow's call is cancelled.
    ByItself,
}

/// Handle of an active task.
struct TaskHandle {
    abort: AbortHandle,
    /// Cancels a call that may have something to undo, unless it was cancelled.
    cancel: Option<oneshot::Sender<()>>,
    /// True if the call is cancelled, and not dropped.
    ends_itself: bool,
}

impl RunTasks {
    pub(super) fn new(session: Session) -> Self {
        Self { session, running: FuturesUnordered::new(), handles: HashMap::new(), ending: HashSet::new() }
    }

    fn begin(
        &mut self,
        task: TaskId,
        cancel: Option<oneshot::Sender<()>>,
        event: impl Future<Output = RunEvent> + Send + 'static,
    ) {
        let (abort, registration) = AbortHandle::new_pair();
        let ends_itself = cancel.is_some();
        self.handles.insert(task, TaskHandle { abort, cancel, ends_itself });
        let event = Abortable::new(event, registration).map(move |event| (task, event.ok()));
        self.running.push(event.boxed());
    }

    pub(super) fn call(&mut self, task: TaskId, request: Request, end: CallEnding, span: ActiveSpan) {
        let (cancel, call) = self.prepare(request, end, span);
        self.begin(task, cancel, async move { to_event(task, call.await) });
    }

    /// Asks a person whether an interrupted call is made again, and makes it if so.
    pub(super) fn ask_and_call(&mut self, task: TaskId, request: Request, end: CallEnding, span: ActiveSpan) {
        let (session, question) = (self.session.clone(), repetition_question(&request));
        let (cancel, call) = self.prepare(request, end, span);
        self.begin(task, cancel, async move {
            match session.elicit(question).await {
                Ok(answer) if says_again(&answer) => to_event(task, call.await),
                _ => RunEvent::Interrupted(task),
            }
        });
    }

    /// Prepares a call that ends in this way, with what cancels it. The call runs under the span, and ends it.
    fn prepare(
        &self,
        request: Request,
        end: CallEnding,
        span: ActiveSpan,
    ) -> (Option<oneshot::Sender<()>>, impl Future<Output = Result<Reply, Stop>> + Send + 'static) {
        let (cancel, cancelled) = oneshot::channel();
        let cancel = matches!(end, CallEnding::WithCaller | CallEnding::WhenCancelled).then_some(cancel);
        let (session, request) =
            (self.session.clone(), Request { span: span.as_parent().clone(), ..request });
        let call = async move {
            let caller = session.clone();
            let cancelled = async move {
                let asked = async {
                    if cancelled.await.is_err() {
                        // Its sender was dropped: the task has ended, or is never cancelled.
                        std::future::pending::<()>().await;
                    }
                };
                match end {
                    CallEnding::WithCaller => drop(select(pin!(asked), caller.cancelled()).await),
                    _ => asked.await,
                }
            };
            let outcome = match end {
                CallEnding::AtOnce => session.invoke(request).await,
                _ => session.invoke_apart(request, cancelled.boxed()).await,
            };
            span.finish_call(&outcome);
            outcome
        };
        (cancel, call)
    }

    pub(super) fn ask(&mut self, task: TaskId, question: Question) {
        let session = self.session.clone();
        self.begin(task, None, async move {
            match session.elicit(question).await {
                Ok(answer) => RunEvent::answered(task, answer),
                Err(failure) => RunEvent::failed(task, failure),
            }
        });
    }

    /// Asks a call to end; its result is still an event. Only a call that may have something to undo is asked.
    pub(super) fn cancel(&mut self, task: TaskId) {
        if let Some(cancel) = self.handles.get_mut(&task).and_then(|handle| handle.cancel.take()) {
            // It may have ended meanwhile.
            let _ = cancel.send(());
        }
    }

    /// Ends a task, whose result nobody needs: a call that may have something to undo is cancelled, all else is dropped
    /// together with its nested calls.
    pub(super) fn end(&mut self, task: TaskId) {
        if self.handles.get(&task).is_some_and(|handle| handle.ends_itself) {
            self.cancel(task);
            self.ending.insert(task);
        } else if let Some(handle) = self.handles.remove(&task) {
            handle.abort.abort();
        }
    }

    /// Waits for the next event; never resolves while no task is active.
    pub(super) async fn next(&mut self) -> RunEvent {
        loop {
            let Some((task, event)) = self.running.next().await else { std::future::pending().await };
            if let Some(event) = event {
                self.handles.remove(&task);
                if !self.ending.remove(&task) {
                    return event;
                }
            }
        }
    }

    /// Waits until all tasks that were told to end have ended.
    pub(super) async fn wait_until_ended(&mut self) {
        while !self.ending.is_empty() {
            let Some((task, _)) = self.running.next().await else { return };
            self.ending.remove(&task);
        }
    }
}

fn to_event(task: TaskId, outcome: Result<Reply, Stop>) -> RunEvent {
    match outcome {
        Ok(reply) => RunEvent::replied(task, reply),
        Err(stop) => RunEvent::failed(task, Failure::from(stop)),
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
