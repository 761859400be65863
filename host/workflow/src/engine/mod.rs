//! One run of a workflow, as a pure state machine.
//!
//! ```text
//! begin ─▶ State, effects        step(plan, state, now, event) ─▶ effects
//! ```
//!
//! It knows no clock, no task and no session: `now` is the time since the run began, and whoever drives it carries out the
//! effects, tells it what came of them, and wakes it when [`State::due`] says so. The state can be written down and read
//! again.
//!
//! Where ToolHive's documentation and code say different things, both forms work: an answer stands in
//! `.steps.<id>.content` and in `.steps.<id>.output.content`; `skip_remaining` skips; `defaultResults` stand for whatever a
//! step did not give. Without an `output` the result is that of one step, which time has no part in choosing: of those
//! that completed the one with the longest chain of dependencies before it, and of several such the last in the
//! definition.
//!
//! | module | what it does |
//! |---|---|
//! | `state`, `context` | where a run stands; what its templates see |
//! | `machine` | which step runs when, and how a run ends |
//! | `calls`, `retry` | a call and its tries |
//! | `ask`, `for_each` | questions; calls for the items of a list |
//! | `condition`, `arguments`, `kinds`, `coerce` | from templates to truth and to parameters |
//! | `reply`, `output` | from a reply to a step's output; from all of them to the result |
//! | `wrong`, `report`, `redact` | what went wrong, and what is told of it |

mod arguments;
mod ask;
mod calls;
mod coerce;
mod condition;
mod context;
mod for_each;
mod kinds;
mod machine;
mod output;
mod redact;
mod reply;
mod report;
mod retry;
mod room;
mod state;
#[cfg(test)]
mod tests;
mod wrong;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use loggia_facade::{Answer, Failure, Object, Reply};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::state::State;
use self::{
    context::Context,
    machine::Machine,
    state::{Clock, Phase},
};
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
    /// Whether the action may change anything: what only reads leaves nothing done.
    pub changes: bool,
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
    /// Steps that failed: the one that ended the workflow, and those that did not.
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

/// Begins a run.
pub fn begin(plan: &Plan, begin: Begin) -> (State, Vec<Effect>) {
    let mut state = State {
        id: begin.id.clone(),
        seed: begin.seed,
        context: Context::new(begin),
        phases: plan.workflow.steps.iter().map(|_| Phase::Waiting).collect(),
        clock: Clock { now: Duration::ZERO, left: plan.workflow.timeout },
        held: 0,
        over: false,
        more: false,
        secrets: OnceLock::new(),
    };
    let mut machine = Machine::new(plan, &mut state);
    machine.advance();
    let effects = machine.effects;
    (state, effects)
}

/// Goes on with it. Whatever is told of what is not under way is ignored.
pub fn step(plan: &Plan, state: &mut State, now: Duration, event: Event) -> Vec<Effect> {
    if state.over {
        return Vec::new();
    }
    state.pass(now);
    let mut machine = Machine::new(plan, state);
    if machine.fits() {
        // What came in time counts, even if the clock has gone on since.
        machine.apply(event);
        machine.expire();
        machine.advance();
    }
    machine.effects
}
