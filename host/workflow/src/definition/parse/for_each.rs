//! Calls for each item of a list.

use super::{arguments::call, on_error::on_error, step_fields::FIELDS, template::template};
use crate::{
    definition::{
        limits::{ITERATIONS, ITERATIONS_PARALLEL},
        model::{ForEach, OnError, ToolCall},
        place::ObjectFields,
        report::ParseReport,
        template_use::{StepPart, TemplateSite},
    },
    yaml::excerpt,
};

/// The item's name where the definition gives none.
const ITEM: &str = "item";
/// What ToolHive ignores in an inner step.
const IGNORED: [&str; 4] = ["condition", "dependsOn", "timeout", "defaultResults"];

/// Reads what a step does for each item.
pub(crate) fn for_each(fields: &ObjectFields<'_>, index: usize, report: &mut ParseReport) -> Option<ForEach> {
    for key in ["tool", "message"] {
        if fields.get(key).is_some() {
            let said = format!("{}: forEach step must not have '{key}' field", fields.path);
            let mut problem = fields.missing(key, "");
            problem.message = said;
            report.problem(problem.hint("the call stands under `step`"));
        }
    }
    let collection = match fields.get("collection") {
        Some(place) if place.text(report) != Some("") => {
            template(&place, TemplateSite::Step(index, StepPart::Collection), report)
        }
        _ => {
            report.problem(fields.missing("collection", "is required for forEach steps"));
            None
        }
    };
    let item = item(fields, report);
    let parallel = bounded(fields, "maxParallel", ITERATIONS_PARALLEL, report);
    let iterations = bounded(fields, "maxIterations", ITERATIONS, report);
    let (call, on_error) = inner(fields, index, &item, report)?;
    Some(ForEach { collection: collection?, item, parallel, iterations, call, on_error })
}

fn item(fields: &ObjectFields<'_>, report: &mut ParseReport) -> String {
    let Some(place) = fields.get("itemVar") else { return ITEM.to_owned() };
    let Some(item) = place.text(report).filter(|item| !item.is_empty()) else { return ITEM.to_owned() };
    if !is_identifier(item) {
        report.problem(place.problem(&format!("must be a valid Go identifier (got \"{}\")", excerpt(item))));
    } else if item == "index" {
        report.problem(place.problem("cannot be 'index' (reserved)"));
    }
    item.to_owned()
}

/// A Go identifier: letters, digits and `_`, with no digit first.
fn is_identifier(text: &str) -> bool {
    let letter = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(letter) && text.chars().all(|c| letter(c) || c.is_numeric())
}

/// A number of items; 0 is as none said.
fn bounded(
    fields: &ObjectFields<'_>,
    key: &str,
    (default, most): (usize, usize),
    report: &mut ParseReport,
) -> usize {
    let Some(place) = fields.get(key) else { return default };
    let Some(number) = place.whole(report) else { return default };
    match usize::try_from(number) {
        Ok(0) => default,
        Ok(number) if number <= most => number,
        Ok(_) => {
            report.problem(place.problem(&format!("must be <= {most} (got {number})")));
            most
        }
        Err(_) => {
            report.problem(place.problem(&format!("must be >= 0 (got {number})")));
            default
        }
    }
}

/// The call, and what follows when it fails for one item.
fn inner(
    fields: &ObjectFields<'_>,
    index: usize,
    item: &str,
    report: &mut ParseReport,
) -> Option<(ToolCall, OnError)> {
    let Some(place) = fields.get("step") else {
        report.problem(fields.missing("step", "is required for forEach steps"));
        return None;
    };
    let fields = place.fields(&FIELDS, report)?;
    if fields.get("id").is_none() {
        let said = "a step inside of forEach needs an `id` in ToolHive";
        report.note(place.node.line, &*place.path, said);
    }
    match fields.text("type", report) {
        None | Some("tool") => {}
        Some(other) => {
            let said =
                format!("must be 'tool' (got \"{}\"); only tool inner steps are supported", excerpt(other));
            report.problem(fields.get("type")?.problem(&said));
            return None;
        }
    }
    for key in IGNORED {
        if let Some(place) = fields.get(key) {
            report
                .warn(place.problem("means nothing in the step of a forEach").hint("write it one level up"));
        }
    }
    let at = TemplateSite::Step(index, StepPart::Each(item.to_owned()));
    let call = call(&fields, &at, "is required for tool inner steps", report);
    Some((call, on_error(&fields, report)))
}
