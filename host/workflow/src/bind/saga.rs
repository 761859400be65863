//! Checks of sagas: everything that changes something can be undone, or comes last.

use crate::{
    FileProblem, Workflow,
    definition::{StepKind, UndoRule, WorkflowStep},
    engine::StepTarget,
};

/// Returns the reasons for which a saga could not undo its steps.
pub(super) fn check_saga(workflow: &Workflow, targets: &[Option<StepTarget>]) -> Vec<FileProblem> {
    if workflow.saga.is_none() {
        return Vec::new();
    }
    let changes = |index: usize| targets.get(index).and_then(Option::as_ref).filter(|target| target.changes);
    let mut problems = Vec::new();
    for (index, step) in workflow.steps.iter().enumerate() {
        let Some(target) = changes(index) else { continue };
        let problem = |message: String| {
            let path = match workflow.path.as_str() {
                "" => format!("steps[{index}]"),
                path => format!("{path}.steps[{index}]"),
            };
            FileProblem::new(step.line, path, format!("step `{}`: {message}", step.id))
        };
        match &step.undo {
            Some(UndoRule::Compensate(_)) => {}
            None => {
                let (facade, action) = (&target.facade, &target.action);
                let message =
                    format!("in a saga, a call that changes something must be undone: `{facade}.{action}`");
                let hint = "add `compensate: {tool: …}`, or `irreversible: true` if nothing undoes it";
                problems.push(problem(message).hint(hint));
            }
            Some(UndoRule::Irreversible) => {
                if fails_among_items(workflow, step) {
                    let message = "an irreversible loop must not fail after some of its items".to_owned();
                    problems.push(problem(message).hint("add `onError: {action: continue}`"));
                }
                let before = dependencies(workflow, index);
                let others =
                    (0..workflow.steps.len()).filter(|other| *other != index && !before.contains(other));
                for other in others.filter(|other| changes(*other).is_some()) {
                    let id = &workflow.steps[other].id;
                    let message = format!(
                        "an irreversible step must be the last that changes something, but `{id}` may follow"
                    );
                    problems.push(problem(message).hint(format!("add {id} to its dependsOn")));
                }
            }
        }
    }
    problems
}

/// Returns true if a failed item ends the run.
fn fails_among_items(workflow: &Workflow, step: &WorkflowStep) -> bool {
    let StepKind::ForEach(_) = &step.kind else { return false };
    !workflow.continues && !step.on_error.continues()
}

/// Returns all steps that have ended when this one begins.
fn dependencies(workflow: &Workflow, step: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = workflow.steps[step].depends_on.clone();
    while let Some(next) = open.pop() {
        if !found.contains(&next) {
            found.push(next);
            open.extend(&workflow.steps[next].depends_on);
        }
    }
    found
}
