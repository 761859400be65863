//! References of templates to parameters, steps and items.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::order::StepSet;
use crate::{
    FileProblem,
    definition::{
        model::Workflow,
        report::ParseReport,
        template_use::{StepPart, TemplateSite, TemplateUse},
    },
    yaml::excerpt,
};

/// Maximum number of reported references.
const MAX_REPORTED: usize = 50;
/// Top-level names that a template can read.
const ROOTS: [&str; 5] = ["params", "steps", "vars", "workflow", "forEach"];
/// Fields of a step.
const OF_STEP: [&str; 9] =
    ["status", "output", "content", "error", "action", "message", "count", "total", "cursor"];
/// Fields of the run.
const OF_RUN: [&str; 5] = ["id", "status", "start_time", "step_count", "duration_ms"];

/// Checks all references. `before`: the dependencies of each step, if known.
pub(crate) fn check_references(
    workflow: &Workflow,
    uses: &[TemplateUse],
    before: Option<&[StepSet]>,
    report: &mut ParseReport,
) {
    let mut ids: HashMap<&str, usize> = HashMap::new();
    for (index, step) in workflow.steps.iter().enumerate() {
        ids.entry(&step.id).or_insert(index);
    }
    let checker = ReferenceChecker { workflow, ids, before, params: known_params(workflow) };
    let mut reported = HashSet::new();
    for used in uses {
        for reference in used.template.references() {
            let path: Vec<&str> = reference.path.iter().map(String::as_str).collect();
            let Some(problem) = checker.reference(used, &path, report) else { continue };
            // The search for the nearest name is slow, so a file must not trigger it without limit.
            if reported.len() > MAX_REPORTED {
                return;
            }
            if reported.insert((problem.line, problem.message.clone())) {
                report.problem_if(workflow.strict, problem);
            }
        }
    }
}

struct ReferenceChecker<'a> {
    workflow: &'a Workflow,
    ids: HashMap<&'a str, usize>,
    before: Option<&'a [StepSet]>,
    /// Names of the parameters; `None` if the schema accepts others.
    params: Option<Vec<&'a str>>,
}

/// Returns the names of the parameters, unless the schema accepts others.
fn known_params(workflow: &Workflow) -> Option<Vec<&str>> {
    let schema = &workflow.parameters;
    let elsewhere = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"];
    let more = schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    if more || elsewhere.iter().any(|keyword| schema.contains_key(*keyword)) {
        return None;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    Some(properties.map(|properties| properties.keys().map(String::as_str).collect()).unwrap_or_default())
}

impl ReferenceChecker<'_> {
    /// Returns the problem with a reference, if any.
    fn reference(&self, used: &TemplateUse, path: &[&str], report: &ParseReport) -> Option<FileProblem> {
        let &[root, ref rest @ ..] = path else { return None };
        let subject = referrer(self.workflow, used);
        let unknown = |parts: &[&str], name: &str, among: &[&str]| {
            let message =
                format!("{subject} refers to `.{}`, which does not exist", excerpt(&parts.join(".")));
            report.with_suggestion(
                FileProblem::new(used.line, &*used.path, message),
                name,
                among.iter().copied(),
            )
        };
        match (root, rest) {
            ("params", [name, ..]) => {
                let params = self.params.as_ref().filter(|params| !params.contains(name))?;
                let message = format!(
                    "{subject} refers to `.params.{}`, which the parameters do not define",
                    excerpt(name)
                );
                let problem = FileProblem::new(used.line, &*used.path, message);
                Some(report.with_suggestion(problem, name, params.iter().copied()))
            }
            ("steps", [id, rest @ ..]) => self.step(used, &subject, id, report).or_else(|| {
                let name = rest.first().filter(|name| !OF_STEP.contains(name))?;
                Some(unknown(&path[..3], name, &OF_STEP))
            }),
            ("workflow", [name, ..]) if !OF_RUN.contains(name) => Some(unknown(&path[..2], name, &OF_RUN)),
            ("vars", [_, ..]) => Some(unknown(&path[..2], "", &[])),
            ("forEach", rest) => match &used.at {
                TemplateSite::Step(_, StepPart::Undo(Some(item))) => {
                    const OF_RESULT: [&str; 2] = ["index", "output"];
                    let name = rest.first().filter(|name| **name != item && !OF_RESULT.contains(name))?;
                    Some(unknown(&path[..2], name, &[item, "index", "output"]))
                }
                TemplateSite::Step(_, StepPart::Each(item)) => {
                    let name = rest.first().filter(|name| **name != item && **name != "index")?;
                    Some(unknown(&path[..2], name, &[item, "index"]))
                }
                _ => {
                    let message =
                        format!("{subject} refers to `.forEach`, which only a forEach's inner step sees");
                    Some(FileProblem::new(used.line, &*used.path, message))
                }
            },
            (root, _) if !ROOTS.contains(&root) => {
                // A missing `.params` prefix is likelier than a misspelt root.
                let forgotten = self.params.as_ref().is_some_and(|params| params.contains(&root));
                let problem = unknown(&path[..1], root, &ROOTS);
                Some(if forgotten {
                    problem.hint(format!("write `.params.{}`", excerpt(root)))
                } else {
                    problem
                })
            }
            _ => None,
        }
    }

    /// Returns the problem with a reference to a step, if any.
    fn step(&self, used: &TemplateUse, subject: &str, id: &str, report: &ParseReport) -> Option<FileProblem> {
        let name = excerpt(id);
        let Some(&target) = self.ids.get(id) else {
            let message = format!("{subject} refers to step `{name}`, which does not exist");
            let problem = FileProblem::new(used.line, &*used.path, message);
            return Some(report.with_suggestion(problem, id, self.ids.keys().copied()));
        };
        let TemplateSite::Step(step, part) = &used.at else { return None };
        let step = *step;
        // What undoes a call knows its result.
        if step == target && *part == StepPart::Undo(None) {
            return None;
        }
        if step == target {
            let message = format!("{subject} refers to `.steps.{name}`, its own step");
            return Some(FileProblem::new(used.line, &*used.path, message));
        }
        if self.before?[step] & (1 << target) != 0 {
            return None;
        }
        let message = format!(
            "{subject} refers to `.steps.{name}`, but does not depend on it: add {name} to its dependsOn"
        );
        Some(FileProblem::new(used.line, &*used.path, message))
    }
}

/// Describes the place that holds a reference.
pub(crate) fn referrer(workflow: &Workflow, used: &TemplateUse) -> String {
    match used.at {
        TemplateSite::Step(step, _) => format!("step `{}`", excerpt(&workflow.steps[step].id)),
        TemplateSite::Output(_) => "the output".to_owned(),
    }
}
