//! Simulator that drives a run as the facade does, with a clock that jumps between events.

use std::time::Duration;

use loggia_facade::{Answer, Failure, Object, Reply};
use serde_json::{Value, json};

use super::super::{
    DryRun, RunEffect, RunEvent, RunOutcome, RunPlan, RunReport, RunStart, RunState, StepChange, StepNews,
    TaskId, begin, step,
};

/// Call or question, as its answerer sees it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub task: TaskId,
    /// Tool as `facade.action`; empty for a question.
    pub tool: String,
    /// Parameters; for a question, its message.
    pub params: Value,
    pub idempotency_key: String,
    /// Id of the step.
    pub id: String,
}

/// Response and its delay in milliseconds; `None` for no response.
pub(super) type Told = Option<(u64, Comes)>;

/// Response to a call or a question.
#[derive(Debug, Clone)]
pub(super) enum Comes {
    Reply(Value),
    Fail(Failure),
    Answer(Answer),
    Cancel,
}

pub(super) fn ok(after: u64, data: Value) -> Told {
    Some((after, Comes::Reply(data)))
}

pub(super) fn fails(after: u64, message: &str) -> Told {
    Some((after, Comes::Fail(Failure::new("unavailable", message))))
}

pub(super) fn says(after: u64, answer: Answer) -> Told {
    Some((after, Comes::Answer(answer)))
}

/// Record of a run.
#[derive(Debug)]
pub(super) struct Run {
    pub outcome: RunOutcome,
    pub took: Duration,
    /// Tasks in the order of their start, with the time.
    pub asked: Vec<(Duration, Asked)>,
    pub dropped: Vec<TaskId>,
    pub news: Vec<StepNews>,
    /// Maximum number of concurrent tasks.
    pub most: usize,
    pub state: RunState,
}

impl Run {
    pub(super) fn result(&self) -> &Value {
        match &self.outcome {
            RunOutcome::Completed(value) => value,
            RunOutcome::Failed(report) => panic!("{report:?}"),
        }
    }

    pub(super) fn report(&self) -> &RunReport {
        match &self.outcome {
            RunOutcome::Failed(report) => report,
            RunOutcome::Completed(value) => panic!("it completed: {value}"),
        }
    }

    /// Ids of steps in the order of their requests, including retries.
    pub(super) fn order(&self) -> Vec<&str> {
        self.asked.iter().map(|(_, asked)| asked.id.as_str()).collect()
    }

    /// Parameters of a step's first call.
    pub(super) fn params(&self, id: &str) -> &Value {
        &self
            .asked
            .iter()
            .find(|(_, asked)| asked.id == id)
            .unwrap_or_else(|| panic!("{id} was not called"))
            .1
            .params
    }

    /// Last news of a step.
    pub(super) fn ended(&self, plan: &RunPlan, id: &str) -> &StepChange {
        let place = plan.workflow.steps.iter().position(|step| step.id == id).unwrap();
        &self.news.iter().rfind(|news| news.step == place && news.item.is_none()).unwrap().change
    }
}

pub(super) fn run(plan: &RunPlan, params: Value, answer: impl FnMut(&Asked) -> Told) -> Run {
    run_seeded(plan, params, 1, answer)
}

/// Runs to the end. After every event the state is serialized and restored, and both copies must behave alike.
pub(super) fn run_seeded(
    plan: &RunPlan,
    params: Value,
    seed: u64,
    mut answer: impl FnMut(&Asked) -> Told,
) -> Run {
    let mut params: Object = params.as_object().cloned().unwrap_or_default();
    let dry = params.shift_remove("dry_run").and_then(|dry| DryRun::from_json(&dry));
    let start_time = "2024-01-01T12:00:00Z".to_owned();
    let (mut state, mut effects) =
        begin(plan, RunStart { id: "run-1".into(), start_time, params, seed, dry });
    let mut now = Duration::ZERO;
    let (mut asked, mut dropped, mut news, mut most) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut pending: Vec<(Duration, Asked, Option<Comes>)> = Vec::new();
    for turn in 0.. {
        assert!(turn < 100_000, "the run does not end");
        for effect in std::mem::take(&mut effects) {
            let one = match effect {
                RunEffect::Call { task, facade, action, params, idempotency_key } => {
                    let tool = format!("{facade}.{action}");
                    (task, tool, Value::Object(params), idempotency_key)
                }
                RunEffect::Ask { task, message, .. } => (task, String::new(), json!(message), String::new()),
                RunEffect::Drop(task) => {
                    let count = pending.len();
                    pending.retain(|(_, asked, _)| asked.task != task);
                    assert_eq!(pending.len() + 1, count, "{task:?} was not under way");
                    dropped.push(task);
                    continue;
                }
                RunEffect::Cancel(task) => {
                    assert!(
                        pending.iter().any(|(_, asked, _)| asked.task == task),
                        "{task:?} was not under way"
                    );
                    continue;
                }
                RunEffect::Tell(told) => {
                    news.push(told);
                    continue;
                }
                RunEffect::Done(outcome) => {
                    assert!(pending.is_empty(), "it ended with {pending:?} under way");
                    assert_eq!(state.due(), None);
                    assert_eq!(step(plan, &mut state, now, RunEvent::Due), []);
                    return Run { outcome: *outcome, took: now, asked, dropped, news, most, state };
                }
            };
            let (task, tool, params, idempotency_key) = one;
            let id = plan.workflow.steps[task.step].id.clone();
            let one = Asked { task, tool, params, idempotency_key, id };
            assert!(!pending.iter().any(|(_, other, _)| other.task == task), "{task:?} begins twice");
            asked.push((now, one.clone()));
            let (at, what) = match answer(&one) {
                Some((after, what)) => (now + Duration::from_millis(after), Some(what)),
                None => (Duration::MAX, None),
            };
            pending.push((at, one, what));
            most = most.max(pending.len());
        }
        let due = state.due();
        let next = pending.iter().enumerate().filter(|(_, (_, _, what))| what.is_some());
        let next = next.min_by_key(|(place, (at, ..))| (*at, *place)).map(|(place, (at, ..))| (place, *at));
        let event = match (next, due) {
            (Some((place, at)), due) if due.is_none_or(|due| at <= due) => {
                now = now.max(at);
                let (_, asked, what) = pending.remove(place);
                match what.unwrap() {
                    Comes::Reply(data) => RunEvent::replied(asked.task, Reply::data(data)),
                    Comes::Fail(failure) => RunEvent::Failed(asked.task, failure),
                    Comes::Answer(answer) => RunEvent::Answered(asked.task, answer),
                    Comes::Cancel => {
                        // Still active.
                        pending.push((Duration::MAX, asked, None));
                        RunEvent::Cancelled
                    }
                }
            }
            (_, Some(due)) => {
                assert!(due >= now, "it is due in the past: {due:?} at {now:?}");
                now = due;
                RunEvent::Due
            }
            (_, None) => panic!("nothing is under way, and nothing is due: {state:?}"),
        };
        let written = serde_json::to_string(&state).unwrap();
        let mut read: RunState = serde_json::from_str(&written).unwrap();
        effects = step(plan, &mut state, now, event.clone());
        assert_eq!(step(plan, &mut read, now, event), effects, "it goes on differently when read again");
        assert_eq!(serde_json::to_string(&read).unwrap(), serde_json::to_string(&state).unwrap());
    }
    unreachable!("the loop ends by itself")
}
