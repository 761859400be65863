//! One workflow.

use std::time::Duration;

use loggia_facade::Object;
use serde::{Deserialize, Serialize};

use super::{output::ResultShape, saga::SagaRules, start::StartSettings, step::WorkflowStep};

/// Workflow: ToolHive's composite tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Workflow {
    /// Name of the action.
    pub name: String,
    /// Description of the action.
    pub description: String,
    /// JSON Schema of the parameters; defaults to `{"type": "object"}`.
    pub parameters: Object,
    /// Timeout of a run. Time spent waiting for a person does not count.
    pub timeout: Duration,
    /// `failureMode: continue`: every failed step is treated as `onError: continue`.
    pub continues: bool,
    /// Makes a missing reference an error instead of the text `<no value>`.
    pub strict: bool,
    /// `dryRun: allowed`: a call may ask for a plan instead of a run.
    #[serde(default)]
    pub dry_runs: bool,
    /// URIs, or templates over the parameters, of the resources that its prompt brings with it.
    #[serde(default)]
    pub attach: Vec<String>,
    /// How it starts by itself.
    #[serde(default)]
    pub start: Option<StartSettings>,
    /// Rules of a saga; `None`: a failed run undoes nothing.
    #[serde(default)]
    pub saga: Option<SagaRules>,
    /// Steps, in file order.
    pub steps: Vec<WorkflowStep>,
    /// Shape of the result; defaults to the output of the last step.
    pub output: Option<ResultShape>,
    /// Effects declared by the author.
    pub annotations: EffectHints,
    /// Line number.
    pub line: usize,
    /// Path in the document, for messages: `compositeTools[0]`.
    pub path: String,
}

impl Workflow {
    /// Parameter that asks for a plan.
    pub const DRY_RUN: &str = "dry_run";
}

/// Effects that the author declares. Anything undeclared follows from the steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "MCP's own words")]
pub struct EffectHints {
    pub title: Option<String>,
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}
