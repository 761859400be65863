//! Execution of one run, as a pure state machine.
//!
//! ```text
//! begin ─▶ RunState, effects        step(plan, state, now, event) ─▶ effects
//! ```
//!
//! The machine has no clock, task or session. Its driver passes `now`, the time since the run began, carries out the
//! effects, reports their results as events, and wakes the machine at the time that [`RunState::due`] returns. The state
//! can be serialized and restored.
//!
//! Where ToolHive's documentation and code differ, both forms work: an answer is available as `.steps.<id>.content` and
//! as `.steps.<id>.output.content`; `skip_remaining` skips; `defaultResults` replace any missing output. Without an
//! `output`, the result is that of one step, independent of timing: among the completed steps the one with the longest
//! chain of dependencies, and among equals the last in the file.
//!
//! | module | concept |
//! |---|---|
//! | `model` | input and output of the machine |
//! | `values` | sizes of values; conversion from text |
//! | `failure` | failures of steps; redaction of secrets |
//! | `state` | the state of a run, and the context of its templates |
//! | `data` | conditions, arguments, replies, results |
//! | `machine` | scheduling, and the transitions of calls, questions, loops and sagas |
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
    model::{
        DryRun, FailedUndo, RunEffect, RunEvent, RunOutcome, RunPlan, RunReport, RunStart, StepChange,
        StepNews, StepTarget, TaskId, UndoReport,
    },
    run::{begin, step},
    state::RunState,
};
