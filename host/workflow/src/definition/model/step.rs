//! One step of a workflow.

use std::time::Duration;

use loggia_facade::Effect;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    call::ToolCall,
    for_each::ForEach,
    on_error::{OnError, UnknownOutcome},
    question::QuestionStep,
    saga::{CompensatingCall, UndoRule},
};
use crate::template::TextTemplate;

/// Step of a workflow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkflowStep {
    /// Identifier, unique in the workflow.
    pub id: String,
    /// Kind of step.
    pub kind: StepKind,
    /// Template that must produce true or false; on false the step is skipped.
    pub condition: Option<TextTemplate>,
    /// Indexes of the steps that must have ended before.
    pub depends_on: Vec<usize>,
    /// Timeout of the step including its retries; for a question, the time for which it stays open.
    pub timeout: Duration,
    /// Policy for a failure.
    pub on_error: OnError,
    /// Policy for a call that was interrupted by a restart; `None`: it is repeated if its action is idempotent.
    pub on_unknown: Option<UnknownOutcome>,
    /// Idempotency key of the step's call, or of each of its calls; `None`: one of the run's own.
    #[serde(default)]
    pub key: Option<TextTemplate>,
    /// Effect that the author states. It can only be stronger than that of the action.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// Skips the step if what it calls is not there.
    #[serde(default)]
    pub skips_missing: bool,
    /// How a saga undoes the step's call, or each of its calls.
    #[serde(default)]
    pub undo: Option<UndoRule>,
    /// Output of the step if it is skipped or fails.
    pub default_results: Option<Value>,
    /// Line number.
    pub line: usize,
}

/// Kinds of steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum StepKind {
    /// `type: tool`.
    Tool(ToolCall),
    /// `type: elicitation`.
    Ask(QuestionStep),
    /// `type: forEach`.
    ForEach(ForEach),
}

impl WorkflowStep {
    /// Returns the call that the step makes once or for each item.
    pub fn call(&self) -> Option<&ToolCall> {
        match &self.kind {
            StepKind::Tool(call) => Some(call),
            StepKind::ForEach(each) => Some(&each.call),
            StepKind::Ask(_) => None,
        }
    }

    /// Returns all calls that the step may make.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.call().into_iter().chain(self.compensation().map(|undo| &undo.call))
    }

    /// Returns the call by which a saga undoes the step's.
    pub fn compensation(&self) -> Option<&CompensatingCall> {
        self.undo.as_ref().and_then(UndoRule::compensation)
    }
}
