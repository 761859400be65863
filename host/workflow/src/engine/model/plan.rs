//! Bound workflows, ready to run.

use std::sync::Arc;

use loggia_facade::Object;
use serde::{Deserialize, Serialize};

use super::event::TaskId;
use crate::{Workflow, definition::StepKind};

/// Workflow bound to the actions that it calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunPlan {
    /// Definition.
    pub workflow: Arc<Workflow>,
    /// Targets by step; `None` for steps that call nothing.
    pub targets: Vec<Option<StepTarget>>,
    /// Targets of the compensations by step; `None` for steps without one.
    #[serde(default)]
    pub compensations: Vec<Option<StepTarget>>,
}

impl RunPlan {
    /// Returns the target of a task.
    pub fn target(&self, task: TaskId) -> Option<&StepTarget> {
        let targets = if task.undoes { &self.compensations } else { &self.targets };
        targets.get(task.step).and_then(Option::as_ref)
    }

    /// Returns true if the step's call may have lasting effects.
    pub(crate) fn changes(&self, step: usize) -> bool {
        self.targets.get(step).and_then(Option::as_ref).is_some_and(|target| target.changes)
    }

    /// Returns true if a run has no effect until it ends: it may then begin again.
    pub fn is_repeatable(&self) -> bool {
        let changes = self.targets.iter().flatten().any(|target| target.changes);
        let asks = self.workflow.steps.iter().any(|step| matches!(step.kind, StepKind::Ask(_)));
        !changes && !asks
    }
}

/// Target of a step's call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StepTarget {
    /// Facade.
    pub facade: String,
    /// Action.
    pub action: String,
    /// JSON Schema of the action's parameters.
    pub params: Arc<Object>,
    /// Argument that names the action and is no parameter.
    pub action_argument: Option<String>,
    /// True if the action may have lasting effects. Read-only actions have none.
    pub changes: bool,
    /// True if a repeated call has no further effect: for read-only and idempotent actions.
    pub repeatable: bool,
    /// True if the call goes on after a restart, and may have something to undo: for workflows.
    #[serde(default)]
    pub durable: bool,
}
