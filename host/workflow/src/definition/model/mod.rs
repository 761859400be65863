//! Workflow files as data.
//!
//! | file | concept |
//! |---|---|
//! | `call.rs`, `question.rs`, `for_each.rs`, `on_error.rs` | what a step does; what follows a failure |
//! | `saga.rs` | how a failed workflow undoes what it has done |
//! | `start.rs` | how a workflow starts by itself |
//! | `step.rs` | one step |
//! | `output.rs` | the shape of a result |
//! | `workflow.rs` | one workflow |
//! | `file.rs` | one file |

mod call;
mod file;
mod for_each;
mod on_error;
mod output;
mod question;
mod saga;
mod start;
mod step;
mod workflow;

pub use self::{
    call::{ArgumentValue, ToolCall},
    file::{FileForm, WorkflowFile},
    for_each::ForEach,
    on_error::{OnError, UnknownOutcome},
    output::{PropertySource, PropertyType, ResultProperty, ResultShape},
    question::{QuestionStep, RefusalAction},
    saga::{CompensatingCall, SagaRules, UndoRule},
    start::{ScheduleSettings, StartSettings, StateTrigger},
    step::{StepKind, WorkflowStep},
    workflow::{EffectHints, Workflow},
};
