//! A file of workflows as a facade: the engine's effects, carried out through the call's session.

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

/// Hears of each step of each run, for who wants to show more than progress.
pub type Watcher = Arc<dyn Fn(&News) + Send + Sync>;

/// A file of workflows.
pub struct WorkflowFacade {
    surface: Arc<Surface>,
    /// One for each action, in their order.
    workflows: Vec<Arc<Workflow>>,
    watcher: Option<Watcher>,
}

impl WorkflowFacade {
    /// The facade of these workflows, which publishes this.
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
            let bound = bound(workflow, &call.session)?;
            match run(&bound.plan, call, self.watcher.as_ref()).await {
                RunOutcome::Completed(output) => Ok(Reply::data(output)),
                RunOutcome::Failed(report) => Err(failure(*report).into()),
            }
        }
        .boxed()
    }
}

/// The workflow as its caller may run it now.
fn bound(workflow: &Arc<Workflow>, session: &Session) -> Result<BoundWorkflow, Failure> {
    let denied = Cell::new(false);
    let peers = |facade: &str, action: &str| {
        session.lookup(facade, action).inspect_err(|failure| denied.set(denied.get() || lacks_scope(failure)))
    };
    bind(workflow, &peers).map_err(|problems| match problems.first() {
        Some(first) if denied.get() => refused(workflow, first),
        _ => unavailable(workflow, &problems),
    })
}

/// The caller may run the workflow, and not what it calls.
fn refused(workflow: &Workflow, problem: &Problem) -> Failure {
    let message = format!("access denied: `{}` was not run: {}", workflow.name, problem.message);
    let failure = Failure::new(code::DENIED, message);
    match &problem.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Problems that a caller is told of.
const TOLD: usize = 5;

fn unavailable(workflow: &Workflow, problems: &[Problem]) -> Failure {
    let said: Vec<&str> = problems.iter().take(TOLD).map(|problem| problem.message.as_str()).collect();
    let more = problems.len().saturating_sub(TOLD);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message = format!("`{}` is unavailable: {}{more}", workflow.name, said.join("; "));
    let hint = "nothing was run; the operator can serve what is missing, or mend the workflow's file";
    Failure::new(code::UNAVAILABLE, message).hint(hint)
}

/// Where and why a run failed, as its caller is told.
fn failure(report: RunReport) -> Failure {
    let (code, message, hint) = (report.code.clone(), report.message.clone(), report.hint.clone());
    let mut details = serde_json::to_value(report).unwrap_or_default();
    if let Value::Object(details) = &mut details {
        // They stand in the envelope itself.
        details.retain(|key, value| !matches!(key.as_str(), "code" | "message" | "hint") && !value.is_null());
    }
    Failure { details: Some(details), ..Failure::new(&code, message).hint(hint) }
}

/// What is under way, and how it is given up.
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

    /// Dropping a call ends it, with all that it has called.
    fn give_up(&mut self, task: TaskId) {
        if let Some(handle) = self.handles.remove(&task) {
            handle.abort();
        }
    }

    /// The next thing that happens. Pending while nothing is under way.
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
async fn run(plan: &RunPlan, call: Call, watcher: Option<&Watcher>) -> RunOutcome {
    let session = call.session;
    let began = Instant::now();
    let begin = RunStart {
        id: id(&call.action, call.idempotency_key.as_deref()),
        start_time: start_time(),
        params: call.params,
        seed: chance(),
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
                RunEffect::Drop(task) => tasks.give_up(task),
                RunEffect::Tell(news) => {
                    teller.tell(&news);
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
                // There is more to begin: first others get their turn, also who ends this call.
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

/// The time of day, for `.workflow.start_time`.
#[expect(clippy::disallowed_methods, reason = "a run's start time is data that its templates read")]
fn start_time() -> String {
    DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A run's name: the same for the same workflow and the same key of its caller, so that its steps do their work once.
fn id(workflow: &str, key: Option<&str>) -> String {
    match key {
        None => format!("wf_{:016x}{:016x}", chance(), chance()),
        // The caller's own words may be long, and would be told to whatever is called.
        Some(key) => {
            let digest = Sha256::digest(format!("{workflow}\n{key}"));
            let digest = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            format!("wf_{digest}")
        }
    }
}

/// Another number each time: names a run, and seeds its pauses.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_anew_unless_its_caller_says_that_it_is_the_same() {
        assert_ne!(id("pay", None), id("pay", None));
        assert_eq!(id("pay", Some("order-7")), id("pay", Some("order-7")));
        assert_ne!(id("pay", Some("order-7")), id("pay", Some("order-8")));
        assert_ne!(id("pay", Some("order-7")), id("pack", Some("order-7")));
        assert_eq!(id("pay", Some(&"x".repeat(1 << 20))).len(), id("pay", None).len());
    }
}
