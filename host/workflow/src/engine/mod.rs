//! One run of a workflow, as a pure state machine.
//!
//! ```text
//! begin ─▶ State, effects        step(plan, state, now, event) ─▶ effects
//! ```
//!
//! It knows no clock, no task and no session: `now` is the time since the run began, and whoever drives it carries out the
//! effects, tells it what came of them, and wakes it when [`RunState::due`] says so. The state can be written down and read
//! again.
//!
//! Where ToolHive's documentation and code say different things, both forms work: an answer stands in
//! `.steps.<id>.content` and in `.steps.<id>.output.content`; `skip_remaining` skips; `defaultResults` stand for whatever a
//! step did not give. Without an `output` the result is that of one step, which time has no part in choosing: of those
//! that completed the one with the longest chain of dependencies before it, and of several such the last in the
//! definition.
//!
//! | module | concept |
//! |---|---|
//! | `model` | input and output of the machine |
//! | `values` | values and their sizes; conversion from text |
//! | `failure` | failures of steps; redaction of secrets |
//! | `state` | the state of a run, and the context of its templates |
//! | `data` | conditions, arguments, replies, results |
//! | `machine` | which step runs when, and how a run ends |
//! | `run.rs` | the entry points |

mod data;
mod failure;
mod machine;
mod model;
mod run;
mod state;
#[cfg(test)]
mod tests;
mod values;

pub use self::{
    model::{CallTarget, News, RunEffect, RunEvent, RunOutcome, RunPlan, RunReport, RunStart, TaskId, What},
    run::{begin, step},
    state::RunState,
};
