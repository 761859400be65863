//! Bound workflows, ready to run.

use std::sync::Arc;

use loggia_facade::Object;

use crate::Workflow;

/// A workflow with what the actions that it calls take.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// The definition.
    pub workflow: Arc<Workflow>,
    /// One for each step that calls (`forEach` too), in the steps' order.
    pub targets: Vec<Option<CallTarget>>,
}

/// What a step calls.
#[derive(Debug, Clone)]
pub struct CallTarget {
    /// The facade.
    pub facade: String,
    /// Its action.
    pub action: String,
    /// JSON Schema of the action's parameters.
    pub params: Arc<Object>,
    /// An argument that names the action, and is no parameter.
    pub action_argument: Option<&'static str>,
    /// Whether the action may change anything: what only reads leaves nothing done.
    pub changes: bool,
}
