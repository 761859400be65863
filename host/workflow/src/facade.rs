//! Facade that runs workflows: carries out the engine's effects through the call's session.

use std::{
    cell::Cell,
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
    time::SystemTime,
};

use chrono::{DateTime, SecondsFormat, Utc};
use futures_util::{
    FutureExt, StreamExt,
    future::{AbortHandle, Abortable, BoxFuture},
    stream::FuturesUnordered,
};
use loggia_facade::{
    Call, Detail, Facade, Failure, Input, Question, Reply, Request, Session, Stop, Surface, code,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep_until};

use crate::{
    Problem, Workflow,
    bind::{BoundWorkflow, bind, lacks_scope},
    engine::{self, News, RunEffect, RunEvent, RunOutcome, RunPlan, RunReport, RunStart, TaskId},
    progress::ProgressReporter,
};

/// Observer of every step of every run, for displays that show more than progress.
pub type Watcher = Arc<dyn Fn(&News) + Send + Sync>;

/// Facade of one workflow file.
pub struct WorkflowFacade {
    surface: Arc<Surface>,
    /// Workflows in the order of the surface's actions.
    workflows: Vec<Arc<Workflow>>,
    watcher: Option<Watcher>,
}

impl WorkflowFacade {
    /// Creates a facade that publishes this surface.
    pub fn new(surface: Arc<Surface>, workflows: Vec<Arc<Workflow>>, watcher: Option<Watcher>) -> Self {
        Self { surface, workflows, watcher }
    }
}

impl Facade for WorkflowFacade {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn dispatch(self: Arc<Self>, call: Call) -> BoxFuture<'static, Result<Reply, Stop>> {
        async move {
            let workflow = self.workflows.iter().find(|workflow| workflow.name == call.action);
            let workflow = workflow.ok_or_else(|| Failure::new(code::NOT_FOUND, "not found"))?;
            let bound = bind_for_session(workflow, &call.session)?;
            match drive_run(&bound.plan, call, self.watcher.as_ref()).await {
                RunOutcome::Completed(output) => Ok(Reply::data(output)),
                RunOutcome::Failed(report) => Err(to_failure(*report).into()),
            }
        }
        .boxed()
    }
}

/// Binds the workflow with the rights of its caller.
fn bind_for_session(workflow: &Arc<Workflow>, session: &Session) -> Result<BoundWorkflow, Failure> {
    let denied = Cell::new(false);
    let peers = |facade: &str, action: &str| {
        session.lookup(facade, action).inspect_err(|failure| denied.set(denied.get() || lacks_scope(failure)))
    };
    bind(workflow, &peers).map_err(|problems| match problems.first() {
        Some(first) if denied.get() => to_denied(workflow, first),
        _ => to_unavailable(workflow, &problems),
    })
}

/// Creates the denial for a caller who may run the workflow but not its steps.
fn to_denied(workflow: &Workflow, problem: &Problem) -> Failure {
    let message = format!("access denied: `{}` was not run: {}", workflow.name, problem.message);
    let failure = Failure::new(code::DENIED, message);
    match &problem.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Maximum number of problems in a message.
const MAX_REPORTED: usize = 5;

fn to_unavailable(workflow: &Workflow, problems: &[Problem]) -> Failure {
    let messages: Vec<&str> =
        problems.iter().take(MAX_REPORTED).map(|problem| problem.message.as_str()).collect();
    let more = problems.len().saturating_sub(MAX_REPORTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message = format!("`{}` is unavailable: {}{more}", workflow.name, messages.join("; "));
    let hint = "nothing was run; the operator can serve what is missing, or mend the workflow's file";
    Failure::new(code::UNAVAILABLE, message).hint(hint)
}

/// Converts a report into a failure for the caller.
fn to_failure(report: RunReport) -> Failure {
    let (code, message, hint) = (report.code.clone(), report.message.clone(), report.hint.clone());
    let mut details = serde_json::to_value(report).unwrap_or_default();
    if let Value::Object(details) = &mut details {
        // The envelope already carries these fields.
        details.retain(|key, value| !matches!(key.as_str(), "code" | "message" | "hint") && !value.is_null());
    }
    Failure { details: Some(details), ..Failure::new(&code, message).hint(hint) }
}

/// Active tasks of a run, with handles to cancel them.
struct Tasks {
    session: Session,
    running: FuturesUnordered<BoxFuture<'static, (TaskId, Option<RunEvent>)>>,
    handles: HashMap<TaskId, AbortHandle>,
}

impl Tasks {
    fn begin(&mut self, task: TaskId, event: impl Future<Output = RunEvent> + Send + 'static) {
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(task, handle);
        let event = Abortable::new(event, registration).map(move |event| (task, event.ok()));
        self.running.push(event.boxed());
    }

    fn call(&mut self, task: TaskId, request: Request) {
        let session = self.session.clone();
        self.begin(task, async move {
            match session.invoke(request).await {
                Ok(reply) => RunEvent::Replied(task, reply),
                Err(stop) => RunEvent::Failed(task, Failure::from(stop)),
            }
        });
    }

    fn ask(&mut self, task: TaskId, question: Question) {
        let session = self.session.clone();
        self.begin(task, async move {
            match session.elicit(question).await {
                Ok(answer) => RunEvent::Answered(task, answer),
                Err(failure) => RunEvent::Failed(task, failure),
            }
        });
    }

    /// Cancels a task. Dropping a call ends it together with its nested calls.
    fn cancel(&mut self, task: TaskId) {
        if let Some(handle) = self.handles.remove(&task) {
            handle.abort();
        }
    }

    /// Waits for the next event; never resolves while no task is active.
    async fn next(&mut self) -> RunEvent {
        loop {
            let Some((task, event)) = self.running.next().await else { std::future::pending().await };
            if let Some(event) = event {
                self.handles.remove(&task);
                return event;
            }
        }
    }
}

/// Drives one run to its end.
async fn drive_run(plan: &RunPlan, call: Call, watcher: Option<&Watcher>) -> RunOutcome {
    let session = call.session;
    let began = Instant::now();
    let begin = RunStart {
        id: run_id(&call.action, call.idempotency_key.as_deref()),
        start_time: start_time(),
        params: call.params,
        seed: random_u64(),
    };
    let mut teller = ProgressReporter::new(&plan.workflow, &session);
    let mut tasks =
        Tasks { session: session.clone(), running: FuturesUnordered::new(), handles: HashMap::new() };
    let mut cancelled = session.cancelled().fuse();
    let (mut state, mut effects) = engine::begin(plan, begin);
    loop {
        for effect in effects {
            match effect {
                RunEffect::Call { task, facade, action, params, idempotency_key } => {
                    let input = Input::Action { action, params, detail: Detail::Standard };
                    let idempotency_key = Some(idempotency_key);
                    tasks.call(task, Request { facade, input, timeout: None, idempotency_key });
                }
                RunEffect::Ask { task, message, schema, timeout } => {
                    tasks.ask(task, Question { message, schema, name: None, timeout: Some(timeout) });
                }
                RunEffect::Drop(task) => tasks.cancel(task),
                RunEffect::Tell(news) => {
                    teller.report(&news);
                    if let Some(watcher) = watcher {
                        watcher(&news);
                    }
                }
                RunEffect::Done(outcome) => return *outcome,
            }
        }
        let due = state.due().map(|due| began + due);
        let clock = async {
            match due {
                // More steps can start immediately: yield first, so that others run and the caller can cancel.
                Some(due) if due <= Instant::now() => tokio::task::yield_now().await,
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            biased;
            () = &mut cancelled => RunEvent::Cancelled,
            event = tasks.next() => event,
            () = clock => RunEvent::Due,
        };
        effects = engine::step(plan, &mut state, began.elapsed(), event);
    }
}

/// Formats the time of day for `.workflow.start_time`.
#[expect(clippy::disallowed_methods, reason = "a run's start time is data that its templates read")]
fn start_time() -> String {
    DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Derives the id of a run. The same workflow and caller key yield the same id, so that steps stay idempotent.
fn run_id(workflow: &str, key: Option<&str>) -> String {
    match key {
        None => format!("wf_{:016x}{:016x}", random_u64(), random_u64()),
        // The caller's key may be long, and must not leak to called facades.
        Some(key) => {
            let digest = Sha256::digest(format!("{workflow}\n{key}"));
            let digest = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            format!("wf_{digest}")
        }
    }
}

/// Returns a new random number, for ids of runs and seeds of jitter.
fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_anew_unless_its_caller_says_that_it_is_the_same() {
        assert_ne!(run_id("pay", None), run_id("pay", None));
        assert_eq!(run_id("pay", Some("order-7")), run_id("pay", Some("order-7")));
        assert_ne!(run_id("pay", Some("order-7")), run_id("pay", Some("order-8")));
        assert_ne!(run_id("pay", Some("order-7")), run_id("pack", Some("order-7")));
        assert_eq!(run_id("pay", Some(&"x".repeat(1 << 20))).len(), run_id("pay", None).len());
    }
}
