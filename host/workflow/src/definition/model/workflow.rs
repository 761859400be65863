//! One workflow.

use std::time::Duration;

use loggia_facade::Object;

use super::{output::ResultShape, step::WorkflowStep};

/// One composite tool.
#[derive(Debug, Clone)]
pub struct Workflow {
    /// Becomes the action's name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of the parameters; `{"type": "object"}` where there is none.
    pub parameters: Object,
    /// How long a run takes at most. Time in which it waits for a person does not count.
    pub timeout: Duration,
    /// `failureMode: continue`: a step's failure is as if its `onError` said so.
    pub continues: bool,
    /// Whether a template that refers to what is not there is an error, rather than the text `<no value>`.
    pub strict: bool,
    /// In the file's order.
    pub steps: Vec<WorkflowStep>,
    /// What the result is; the output of the last step where there is none.
    pub output: Option<ResultShape>,
    /// What the author says of its effects.
    pub annotations: EffectHints,
    /// Where it begins.
    pub line: usize,
    /// Its place in the document, for messages: `compositeTools[0]`.
    pub path: String,
}

/// What the author says of a workflow's effects; what is not said follows from its steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "MCP's own words")]
pub struct EffectHints {
    pub title: Option<String>,
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}
