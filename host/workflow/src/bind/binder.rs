//! Binding of a workflow.

use std::sync::Arc;

use loggia_facade::{Action, Effect, Failure, Object, code};
use loggia_schema::nearest;
use serde_json::Value;

use super::{lookup::ActionLookup, saga::check_saga};
use crate::{
    FileProblem, Workflow,
    definition::{ToolCall, WorkflowStep},
    engine::{RunPlan, StepTarget},
};

/// Workflow bound to the actions that it calls.
#[derive(Debug, Clone)]
pub struct BoundWorkflow {
    /// Plan, ready to run.
    pub plan: RunPlan,
    /// Worst effect of any step.
    pub effect: Effect,
    /// Some step reaches beyond this machine.
    pub open_world: bool,
}

/// Resolves the action of every step.
///
/// # Errors
///
/// Every reason for which the workflow cannot run now, each with the step's line.
pub fn bind(workflow: &Arc<Workflow>, peers: &dyn ActionLookup) -> Result<BoundWorkflow, Vec<FileProblem>> {
    let mut problems = Vec::new();
    let (mut targets, mut compensations) = (Vec::new(), Vec::new());
    let (mut effect, mut open_world) = (Effect::Read, false);
    let mut bind_call = |site: CallSite<'_>, stated: Option<Effect>| -> Option<StepTarget> {
        match site.resolve_target(peers, stated) {
            Ok((target, action)) => {
                effect = effect.max(action.effect).max(stated.unwrap_or(Effect::Read));
                open_world |= action.open_world;
                problems.extend(site.check_effect(stated, &action));
                problems.extend(site.check_arguments(&target));
                Some(target)
            }
            // The policy may not name it either, since it is not there.
            Err((_, failure)) if site.step.skips_missing && is_missing(&failure) => None,
            Err((problem, _)) => {
                problems.push(problem);
                None
            }
        }
    };
    for (index, step) in workflow.steps.iter().enumerate() {
        let site = |part, call| CallSite { workflow, step, index, part, call };
        let target = step.call().and_then(|call| bind_call(site("", call), step.effect));
        // What undoes a call that cannot be made is not needed.
        let undo = step.compensation().filter(|_| workflow.saga.is_some() && target.is_some());
        compensations.push(undo.and_then(|undo| bind_call(site("compensate.", &undo.call), None)));
        targets.push(target);
    }
    if problems.is_empty() {
        problems.extend(check_hints(workflow, effect));
        problems.extend(check_saga(workflow, &targets));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let plan = RunPlan { workflow: Arc::clone(workflow), targets, compensations };
    Ok(BoundWorkflow { plan, effect: effect_with_hints(workflow, effect), open_world })
}

/// Step that calls an action.
struct CallSite<'a> {
    workflow: &'a Workflow,
    step: &'a WorkflowStep,
    index: usize,
    /// Part of the step that holds the call.
    part: &'static str,
    call: &'a ToolCall,
}

impl CallSite<'_> {
    fn problem(&self, part: &str, message: impl AsRef<str>) -> FileProblem {
        let path = match self.workflow.path.as_str() {
            "" => format!("steps[{}].{}{part}", self.index, self.part),
            path => format!("{path}.steps[{}].{}{part}", self.index, self.part),
        };
        FileProblem::new(self.call.line, path, format!("step `{}`: {}", self.step.id, message.as_ref()))
    }

    /// Finds the action. The error is the problem, with the failure that caused it.
    fn resolve_target(
        &self,
        peers: &dyn ActionLookup,
        stated: Option<Effect>,
    ) -> Result<(StepTarget, Action), (FileProblem, Option<Failure>)> {
        let mut first = None;
        for candidate in self.call.candidates() {
            match peers.lookup(&candidate.facade, &candidate.action) {
                Ok(action) => {
                    let target = StepTarget {
                        facade: candidate.facade,
                        action: action.name.clone(),
                        params: Arc::clone(&action.params),
                        action_argument: candidate.argument.map(str::to_owned),
                        changes: action.effect.max(stated.unwrap_or(Effect::Read)) > Effect::Read,
                        repeatable: action.idempotent || action.effect == Effect::Read,
                        durable: false,
                    };
                    return Ok((target, action));
                }
                // An existing facade that does not fit explains more than a missing one.
                Err(failure) => match &first {
                    Some(before) if !is_absent(before) || is_absent(&failure) => {}
                    _ => first = Some(failure),
                },
            }
        }
        let Some(failure) = first else {
            let message = format!(
                "the action of `{}` must be literal: the action chosen by a template cannot be checked",
                self.call.tool
            );
            return Err((self.problem("arguments", message), None));
        };
        let temporary = failure.code == code::UNAVAILABLE;
        let problem = self.problem("tool", &failure.message);
        let problem = match &failure.hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        };
        Err((FileProblem { temporary, ..problem }, Some(failure)))
    }

    /// Rejects a stated effect that makes the action look safer than it is.
    fn check_effect(&self, stated: Option<Effect>, action: &Action) -> Option<FileProblem> {
        let stated = stated.filter(|stated| *stated < action.effect)?;
        let (stated, effect) = (stated.as_str(), action.effect.as_str());
        let message = format!("declares `effect: {stated}`, but `{}` is {effect}", action.name);
        Some(self.problem("effect", message).hint("a step can only state a stronger effect"))
    }

    /// Checks the names of the arguments against the action's schema.
    fn check_arguments(&self, target: &StepTarget) -> Vec<FileProblem> {
        let named = format!("`{}.{}`", target.facade, target.action);
        let given = |name: &str| self.call.arguments.iter().any(|(known, _)| known == name);
        let required = target.params.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required.filter_map(Value::as_str).filter(|name| !given(name));
        let mut out: Vec<FileProblem> = missing
            .map(|name| self.problem("arguments", format!("{named} needs the argument `{name}`")))
            .collect();
        let known = target.params.get("properties").and_then(Value::as_object);
        if target.params.get("additionalProperties") == Some(&Value::Bool(false)) {
            let names = || known.into_iter().flat_map(Object::keys).map(String::as_str);
            let is_known =
                |name: &str| Some(name) == target.action_argument.as_deref() || names().any(|n| n == name);
            for (name, _) in self.call.arguments.iter().filter(|(name, _)| !is_known(name)) {
                let mut problem = self.problem("arguments", format!("{named} has no argument `{name}`"));
                problem.hint = nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
                out.push(problem);
            }
        }
        out
    }
}

/// Returns true if the failure says that the facade or the action is not there.
fn is_missing(failure: &Option<Failure>) -> bool {
    failure
        .as_ref()
        .is_some_and(|failure| matches!(failure.code.as_str(), code::UNAVAILABLE | code::NOT_FOUND))
}

/// Returns true if the failure says that the facade is not served, or that the workflow's policy does not grant it.
fn is_absent(failure: &Failure) -> bool {
    failure.code == code::UNAVAILABLE || failure.code == code::DENIED && !lacks_scope(failure)
}

/// Returns true if the caller's own scopes do not cover the action. Only such a denial carries the required scope.
pub(crate) fn lacks_scope(failure: &Failure) -> bool {
    failure.code == code::DENIED && failure.details.is_some()
}

/// Combines the effect of the steps with the author's annotations.
fn effect_with_hints(workflow: &Workflow, floor: Effect) -> Effect {
    let hints = &workflow.annotations;
    let stated = match (hints.read_only, hints.destructive) {
        (Some(false), Some(true)) | (None, Some(true)) => Effect::Destructive,
        (Some(false), _) => Effect::Write,
        _ => Effect::Read,
    };
    floor.max(stated)
}

/// Rejects annotations that make a workflow look safer than its steps. Clients grant approval based on annotations.
fn check_hints(workflow: &Workflow, floor: Effect) -> Option<FileProblem> {
    let hints = &workflow.annotations;
    let (hint, value) = match floor {
        Effect::Write | Effect::Destructive if hints.read_only == Some(true) => ("readOnlyHint", true),
        Effect::Destructive if hints.destructive == Some(false) => ("destructiveHint", false),
        _ => return None,
    };
    let path = match workflow.path.as_str() {
        "" => "annotations".to_owned(),
        path => format!("{path}.annotations"),
    };
    let (name, effect) = (&workflow.name, floor.as_str());
    let message = format!("`{name}` declares `{hint}: {value}`, but one of its steps is {effect}");
    Some(FileProblem::new(workflow.line, path, message).hint("remove the annotation, or the step"))
}
