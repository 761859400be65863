//! Driver of one run: carries out the engine's effects, and reports their results.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
    time::SystemTime,
};

use chrono::{DateTime, SecondsFormat, Utc};
use futures_util::FutureExt;
use loggia_facade::{Call, Detail, Input, Question, Request};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep_until};

use super::tasks::RunTasks;
use crate::{
    engine::{self, RunEffect, RunEvent, RunOutcome, RunPlan, RunStart, StepNews},
    progress::ProgressReporter,
};

/// Observer of every step of every run, for displays that show more than progress.
pub type StepObserver = Arc<dyn Fn(&StepNews) + Send + Sync>;

/// Drives one run to its end.
pub(super) async fn drive_run(plan: &RunPlan, call: Call, watcher: Option<&StepObserver>) -> RunOutcome {
    let session = call.session;
    let began = Instant::now();
    let begin = RunStart {
        id: run_id(&call.action, call.idempotency_key.as_deref()),
        start_time: start_time(),
        params: call.params,
        seed: random_u64(),
    };
    let mut teller = ProgressReporter::new(&plan.workflow, &session);
    let mut tasks = RunTasks::new(session.clone());
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
                    let question = Question { timeout: Some(timeout), ..Question::form(message, schema) };
                    tasks.ask(task, question);
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
    fn run_ids_are_stable_per_caller_key() {
        assert_ne!(run_id("pay", None), run_id("pay", None));
        assert_eq!(run_id("pay", Some("order-7")), run_id("pay", Some("order-7")));
        assert_ne!(run_id("pay", Some("order-7")), run_id("pay", Some("order-8")));
        assert_ne!(run_id("pay", Some("order-7")), run_id("pack", Some("order-7")));
        assert_eq!(run_id("pay", Some(&"x".repeat(1 << 20))).len(), run_id("pay", None).len());
    }
}
