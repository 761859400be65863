//! One run of a workflow, as a pure state machine.
//!
//! ```text
//! begin ─▶ State, effects        step(plan, state, now, event) ─▶ effects
//! ```
//!
//! It knows no clock, no task and no session: `now` is the time since the run began, and whoever drives it carries out the
//! effects, tells it what came of them, and wakes it when [`State::due`] says so. The state can be written down and read
//! again.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Answer, Failure, Object, Reply};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Workflow;

/// A workflow with what the actions that it calls take.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The definition.
    pub workflow: Arc<Workflow>,
    /// One for each step that calls (`forEach` too), in the steps' order.
    pub targets: Vec<Option<Target>>,
}

/// What a step calls.
#[derive(Debug, Clone)]
pub struct Target {
    /// The facade.
    pub facade: String,
    /// Its action.
    pub action: String,
    /// JSON Schema of the action's parameters.
    pub params: Arc<Object>,
    /// An argument that names the action, and is no parameter.
    pub action_argument: Option<&'static str>,
}

/// What a run begins with.
#[derive(Debug, Clone)]
pub struct Begin {
    /// `.workflow.id`.
    pub id: String,
    /// `.workflow.start_time`: RFC 3339, UTC.
    pub start_time: String,
    /// Valid, with defaults.
    pub params: Object,
    /// For the chance in the pauses between retries.
    pub seed: u64,
}

/// Names one thing that is under way: a call, a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Task {
    /// The step's place.
    pub step: usize,
    /// Of a `forEach`: the item's place.
    pub item: Option<usize>,
    /// Which try, from 0.
    pub attempt: u32,
}

/// What happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// A call worked.
    Replied(Task, Reply),
    /// A call failed, or a question could not be put.
    Failed(Task, Failure),
    /// A person answered.
    Answered(Task, Answer),
    /// The moment that [`State::due`] named has come.
    Due,
    /// The caller went away or said stop.
    Cancelled,
}

/// What has to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Make a call, and tell what came of it.
    Call {
        /// Its name.
        task: Task,
        /// Which facade.
        facade: String,
        /// Which of its actions.
        action: String,
        /// With which parameters.
        params: Object,
        /// The same for each try of the same call in the same run.
        idempotency_key: String,
    },
    /// Put a question, and tell what the person said.
    Ask {
        /// Its name.
        task: Task,
        /// What is asked.
        message: String,
        /// JSON Schema of the answer.
        schema: Object,
        /// How long it may stay open.
        timeout: Duration,
    },
    /// What comes of this is of no interest any more.
    Drop(Task),
    /// Something worth telling.
    Tell(News),
    /// The run has ended; nothing follows.
    Done(Box<Outcome>),
}

/// What is told of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// The step's place.
    pub step: usize,
    /// Of a `forEach`: the item's place.
    pub item: Option<usize>,
    /// What happened to it.
    pub what: What,
    /// Steps that have ended, of all.
    pub ended: usize,
}

/// What happened to a step.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// It began.
    Started,
    /// It waits for a person.
    Asking,
    /// It failed, and is tried again after so long.
    Retrying(Duration, String),
    /// It worked.
    Completed,
    /// It failed with this error, and the workflow goes on or ends.
    Failed(String),
    /// Its condition was false, or a question ended the workflow.
    Skipped,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The result.
    Completed(Value),
    /// It failed.
    Failed(Box<Report>),
}

/// Where and why a run failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// `step_failed`, `timed_out` or `cancelled`.
    pub code: String,
    /// One sentence: what failed, and why.
    pub message: String,
    /// The workflow.
    pub workflow: String,
    /// The step that ended it; none where its time was up or its output could not be made.
    pub step: Option<String>,
    /// What the step's call said: `{code, error, hint?}`.
    pub cause: Option<Value>,
    /// What the step was called with, without secrets.
    pub inputs: Option<Value>,
    /// Steps that worked: what they did stays done.
    pub completed: Vec<String>,
    /// Steps that failed, and did not end the workflow.
    pub failed: Vec<String>,
    /// Steps whose condition was false.
    pub skipped: Vec<String>,
    /// Steps that were stopped under way: what they did nobody knows.
    pub stopped: Vec<String>,
    /// Steps that never began.
    pub not_run: Vec<String>,
    /// What to do about it.
    pub hint: String,
}

/// A run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {}

impl State {
    /// When the machine must be woken by [`Event::Due`], if nothing else happens before.
    pub fn due(&self) -> Option<Duration> {
        unimplemented!()
    }
}

/// Begins a run.
pub fn begin(plan: &Plan, begin: Begin) -> (State, Vec<Effect>) {
    let _ = (plan, begin);
    unimplemented!()
}

/// Goes on with it.
pub fn step(plan: &Plan, state: &mut State, now: Duration, event: Event) -> Vec<Effect> {
    let _ = (plan, state, now, event);
    unimplemented!()
}
