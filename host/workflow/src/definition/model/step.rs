//! One step of a workflow.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    call::ToolCall,
    for_each::ForEach,
    on_error::{OnError, UnknownOutcome},
    question::QuestionStep,
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
}
