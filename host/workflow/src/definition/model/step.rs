//! One step of a workflow.

use std::time::Duration;

use serde_json::Value;

use super::{call::ToolCall, for_each::ForEach, on_error::OnError, question::QuestionStep};
use crate::template::Template;

/// One step.
#[derive(Debug, Clone)]
pub struct WorkflowStep {
    /// Unique in the workflow.
    pub id: String,
    /// What it does.
    pub kind: StepKind,
    /// Must come out as true or false; the step is skipped where it is false.
    pub condition: Option<Template>,
    /// Places of the steps that must have ended before.
    pub depends_on: Vec<usize>,
    /// How long it takes at most, with all its retries; for a question, how long it stays open.
    pub timeout: Duration,
    /// What follows a failure.
    pub on_error: OnError,
    /// Its output where it is skipped or fails.
    pub default_results: Option<Value>,
    /// Where it begins.
    pub line: usize,
}

/// The kinds of steps.
#[derive(Debug, Clone)]
pub enum StepKind {
    /// `type: tool`.
    Tool(ToolCall),
    /// `type: elicitation`.
    Ask(QuestionStep),
    /// `type: forEach`.
    ForEach(ForEach),
}

impl WorkflowStep {
    /// The call that it makes, or makes for each item.
    pub fn call(&self) -> Option<&ToolCall> {
        match &self.kind {
            StepKind::Tool(call) => Some(call),
            StepKind::ForEach(each) => Some(&each.call),
            StepKind::Ask(_) => None,
        }
    }
}
