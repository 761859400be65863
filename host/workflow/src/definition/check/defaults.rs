//! References to steps that may be skipped and have no default.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::{
    FileProblem,
    definition::{
        model::{Workflow, WorkflowStep},
        place::join,
        report::ParseReport,
        template_use::{TemplateSite, TemplateUse},
    },
    yaml::excerpt,
};

/// Checks that referenced output exists whether or not the step runs.
pub(crate) fn check_defaults(workflow: &Workflow, uses: &[TemplateUse], report: &mut ParseReport) {
    let mut steps: HashMap<&str, &WorkflowStep> = HashMap::new();
    for step in &workflow.steps {
        steps.entry(&step.id).or_insert(step);
    }
    let mut reported = HashSet::new();
    for used in uses {
        for reference in used.template.references() {
            let [root, id, part, rest @ ..] = &reference.path[..] else { continue };
            let Some(step) = steps.get(id.as_str()).filter(|_| root == "steps" && part == "output") else {
                continue;
            };
            let field = rest.first().map(String::as_str);
            if has_default(step, field)
                || is_self_reference(workflow, used, step)
                || !reported.insert((id.clone(), field))
            {
                continue;
            }
            let problem = missing_default(workflow, used, step, field);
            match may_be_skipped(workflow, step) {
                // ToolHive does not check this; the output is an empty object in that case.
                Some(_) if field.is_none() => report.warn(problem),
                Some(Why::Said) => report.problem(problem),
                Some(Why::FailureMode) => report.warn(problem),
                None => {}
            }
        }
    }
}

/// Reason for which a step may have no output.
enum Why {
    /// The step's own condition, `onError` or `onMissing`.
    Said,
    /// The workflow's `failureMode`.
    FailureMode,
}

fn may_be_skipped(workflow: &Workflow, step: &WorkflowStep) -> Option<Why> {
    if step.condition.is_some() || step.on_error.continues() || step.skips_missing {
        return Some(Why::Said);
    }
    workflow.continues.then_some(Why::FailureMode)
}

/// Returns true if the defaults contain the field, even as null.
fn has_default(step: &WorkflowStep, field: Option<&str>) -> bool {
    match (&step.default_results, field) {
        (Some(Value::Object(defaults)), Some(field)) => defaults.contains_key(field),
        (Some(_), None) => true,
        _ => false,
    }
}

fn is_self_reference(workflow: &Workflow, used: &TemplateUse, step: &WorkflowStep) -> bool {
    matches!(used.at, TemplateSite::Step(index, _) if workflow.steps[index].id == step.id)
}

fn missing_default(
    workflow: &Workflow,
    used: &TemplateUse,
    step: &WorkflowStep,
    field: Option<&str>,
) -> FileProblem {
    let id = excerpt(&step.id);
    let path = format!("{}[{id}].defaultResults", join(&workflow.path, "steps"));
    let by = match used.at {
        TemplateSite::Step(index, _) => format!("step {}", excerpt(&workflow.steps[index].id)),
        TemplateSite::Output(_) => "output".to_owned(),
    };
    let seed = format!(
        "step '{id}' can be skipped but is referenced by downstream steps without defaultResults defined"
    );
    let Some(field) = field.map(excerpt) else {
        let message =
            format!("{path}: step \"{id}\" may be skipped and its output is referenced by {by}; {seed}");
        return FileProblem::new(step.line, path, message);
    };
    let path = format!("{path}[{field}]");
    let message = format!(
        "{path} is required: step \"{id}\" may be skipped and field \"{field}\" is referenced by {by}; {seed}"
    );
    FileProblem::new(step.line, path, message).hint(format!("add `{field}` to the defaultResults of `{id}`"))
}
