//! Workflow files: parsing and checks.
//!
//! ToolHive's *composite tool* is a [`Workflow`] here. A file of them becomes a facade whose actions are its workflows.
//!
//! | module | concept |
//! |---|---|
//! | `limits.rs` | limits and defaults |
//! | `model` | a file as data |
//! | `duration.rs` | durations in Go's syntax |
//! | `template_use.rs` | templates with their place in the file |
//! | `report.rs`, `place.rs` | problems found so far; typed access to YAML nodes |
//! | `check` | checks of a parsed workflow |
//! | `parse` | YAML nodes to the model |
//! | `entry.rs` | the entry points; references between files |

mod check;
mod duration;
mod entry;
mod limits;
mod model;
mod parse;
mod place;
mod report;
mod template_use;
#[cfg(test)]
mod tests;

pub use self::{
    entry::{FileExamination, examine, link, parse_file, parse_file_with_notes},
    limits::{
        COMPENSATION_RETRIES, COMPENSATION_TIMEOUT, ITERATIONS, ITERATIONS_PARALLEL, PARALLEL,
        QUESTION_TIMEOUT, RETRIES, RETRY_DELAY, STEP_TIMEOUT, STEPS, TIMEOUT,
    },
    model::{
        ArgumentValue, CompensatingCall, EffectHints, FileForm, ForEach, OnError, PropertySource,
        PropertyType, QuestionStep, RefusalAction, ResultProperty, ResultShape, SagaRules, ScheduleSettings,
        StartSettings, StateTrigger, StepKind, ToolCall, UndoRule, UnknownOutcome, Workflow, WorkflowFile,
        WorkflowStep,
    },
};
