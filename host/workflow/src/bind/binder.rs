//! Binding of a workflow.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Failure, Object, code};
use loggia_schema::nearest;
use serde_json::Value;

use super::peers::ActionLookup;
use crate::{
    Problem, Workflow,
    definition::{ToolCall, WorkflowStep},
    engine::{CallTarget, RunPlan},
};

/// A workflow with the actions that it calls.
#[derive(Debug, Clone)]
pub struct BoundWorkflow {
    /// Ready to run.
    pub plan: RunPlan,
    /// The worst that its steps do.
    pub effect: Effect,
    /// Some step reaches beyond this machine.
    pub open_world: bool,
}

/// Finds what the steps call.
///
/// # Errors
///
/// All that keeps the workflow from running now, each with the step's line.
pub fn bind(workflow: &Arc<Workflow>, peers: &dyn ActionLookup) -> Result<BoundWorkflow, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut targets = Vec::with_capacity(workflow.steps.len());
    let (mut effect, mut open_world) = (Effect::Read, false);
    for (index, step) in workflow.steps.iter().enumerate() {
        let Some(call) = step.call() else {
            targets.push(None);
            continue;
        };
        let place = CallSite { workflow, step, index, call };
        match place.find(peers) {
            Ok((target, action)) => {
                effect = effect.max(action.effect);
                open_world |= action.open_world;
                problems.extend(place.arguments(&target));
                targets.push(Some(target));
            }
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(contradiction(workflow, effect).filter(|_| targets.len() == workflow.steps.len()));
    if !problems.is_empty() {
        return Err(problems);
    }
    let plan = RunPlan { workflow: Arc::clone(workflow), targets };
    Ok(BoundWorkflow { plan, effect: stated(workflow, effect), open_world })
}

/// A step that calls.
struct CallSite<'a> {
    workflow: &'a Workflow,
    step: &'a WorkflowStep,
    index: usize,
    call: &'a ToolCall,
}

impl CallSite<'_> {
    fn problem(&self, part: &str, said: impl AsRef<str>) -> Problem {
        let path = match self.workflow.path.as_str() {
            "" => format!("steps[{}].{part}", self.index),
            path => format!("{path}.steps[{}].{part}", self.index),
        };
        Problem::new(self.call.line, path, format!("step `{}`: {}", self.step.id, said.as_ref()))
    }

    fn find(&self, peers: &dyn ActionLookup) -> Result<(CallTarget, Action), Problem> {
        let mut first = None;
        for candidate in self.call.candidates() {
            match peers.lookup(&candidate.facade, &candidate.action) {
                Ok(action) => {
                    let target = CallTarget {
                        facade: candidate.facade,
                        action: action.name.clone(),
                        params: Arc::clone(&action.params),
                        action_argument: candidate.argument,
                        changes: action.effect > Effect::Read,
                    };
                    return Ok((target, action));
                }
                // What is there and does not fit says more than what is not there.
                Err(failure) => match &first {
                    Some(before) if !missing(before) || missing(&failure) => {}
                    _ => first = Some(failure),
                },
            }
        }
        let Some(failure) = first else {
            let said = format!(
                "the action of `{}` must be written out: which one a template will name nobody can check",
                self.call.tool
            );
            return Err(self.problem("arguments", said));
        };
        let temporary = failure.code == code::UNAVAILABLE;
        let problem = self.problem("tool", failure.message);
        let problem = Problem { hint: failure.hint, temporary, ..problem };
        Err(problem)
    }

    /// What is wrong with the arguments, as far as their names say.
    fn arguments(&self, target: &CallTarget) -> Vec<Problem> {
        let named = format!("`{}.{}`", target.facade, target.action);
        let given = |name: &str| self.call.arguments.iter().any(|(known, _)| known == name);
        let required = target.params.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required.filter_map(Value::as_str).filter(|name| !given(name));
        let mut out: Vec<Problem> = missing
            .map(|name| self.problem("arguments", format!("{named} needs the argument `{name}`")))
            .collect();
        let known = target.params.get("properties").and_then(Value::as_object);
        if target.params.get("additionalProperties") == Some(&Value::Bool(false)) {
            let names = || known.into_iter().flat_map(Object::keys).map(String::as_str);
            let is_known = |name: &str| Some(name) == target.action_argument || names().any(|n| n == name);
            for (name, _) in self.call.arguments.iter().filter(|(name, _)| !is_known(name)) {
                let mut problem = self.problem("arguments", format!("{named} has no argument `{name}`"));
                problem.hint = nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
                out.push(problem);
            }
        }
        out
    }
}

/// Whether a failure says that there is no such facade now, or none that the workflow's policy lets it look for.
fn missing(failure: &Failure) -> bool {
    failure.code == code::UNAVAILABLE || failure.code == code::DENIED && !lacks_scope(failure)
}

/// Whether the caller's own scopes do not hold what is there: only such a denial says which of them it takes.
pub(crate) fn lacks_scope(failure: &Failure) -> bool {
    failure.code == code::DENIED && failure.details.is_some()
}

/// The effect that follows from the steps, and from what the author says beside them.
fn stated(workflow: &Workflow, floor: Effect) -> Effect {
    let said = &workflow.annotations;
    let stated = match (said.read_only, said.destructive) {
        (Some(false), Some(true)) | (None, Some(true)) => Effect::Destructive,
        (Some(false), _) => Effect::Write,
        _ => Effect::Read,
    };
    floor.max(stated)
}

/// An annotation that makes a workflow look safer than its steps are: clients approve by it.
fn contradiction(workflow: &Workflow, floor: Effect) -> Option<Problem> {
    let said = &workflow.annotations;
    let (hint, value) = match floor {
        Effect::Write | Effect::Destructive if said.read_only == Some(true) => ("readOnlyHint", true),
        Effect::Destructive if said.destructive == Some(false) => ("destructiveHint", false),
        _ => return None,
    };
    let path = match workflow.path.as_str() {
        "" => "annotations".to_owned(),
        path => format!("{path}.annotations"),
    };
    let (name, effect) = (&workflow.name, floor.as_str());
    let said = format!("`{name}` says `{hint}: {value}`, but a step of it is {effect}");
    Some(Problem::new(workflow.line, path, said).hint("leave the annotation out, or call what it says"))
}
