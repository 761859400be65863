//! Input and output of the machine, as data.
//!
//! | file | concept |
//! |---|---|
//! | `plan.rs` | a workflow bound to the actions that it calls |
//! | `event.rs` | events that the machine receives |
//! | `outcome.rs`, `news.rs`, `effect.rs` | results; news of steps; effects that the machine requests |

mod effect;
mod event;
mod news;
mod outcome;
mod plan;

pub use self::{
    effect::RunEffect,
    event::{DryRun, RunEvent, RunStart, TaskId},
    news::{StepChange, StepNews},
    outcome::{FailedUndo, RunOutcome, RunReport, UndoReport},
    plan::{RunPlan, StepTarget},
};
