//! Bound workflows, ready to run.

use std::sync::Arc;

use loggia_facade::Object;

use crate::Workflow;

/// Workflow bound to the actions that it calls.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// Definition.
    pub workflow: Arc<Workflow>,
    /// Targets by step; `None` for steps that call nothing.
    pub targets: Vec<Option<StepTarget>>,
}

/// Target of a step's call.
#[derive(Debug, Clone)]
pub struct StepTarget {
    /// Facade.
    pub facade: String,
    /// Action.
    pub action: String,
    /// JSON Schema of the action's parameters.
    pub params: Arc<Object>,
    /// Argument that names the action and is no parameter.
    pub action_argument: Option<&'static str>,
    /// True if the action may have lasting effects. Read-only actions have none.
    pub changes: bool,
}
