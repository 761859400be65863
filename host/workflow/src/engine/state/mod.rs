//! The state of a run.
//!
//! | file | concept |
//! |---|---|
//! | `context.rs` | the data that templates read |
//! | `run_state.rs` | phases of steps, clock, budget |
//! | `step_call.rs` | a call of a step, with its attempts |
//! | `saga_state.rs` | what a saga can undo, and the undoing |

pub(super) mod context;
mod run_state;
mod saga_state;
mod step_call;

pub use self::run_state::RunState;
pub(super) use self::{
    context::TemplateContext,
    run_state::{LoopState, RunClock, StepEnd, StepPhase},
    saga_state::{ActiveUndo, DoneCall, RunStop, SagaEnding, SagaState, UndoStatus},
    step_call::StepCallState,
};
