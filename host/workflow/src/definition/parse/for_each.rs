//! Parser of `forEach` steps.

use super::{
    arguments::parse_call,
    call_rules::{CallRules, parse_call_rules},
    on_error::parse_on_error,
    step_fields::FIELDS,
    template::parse_template,
};
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

/// Default name of the item.
const ITEM: &str = "item";
/// Fields of an inner step that ToolHive ignores.
const IGNORED: [&str; 6] = ["condition", "dependsOn", "timeout", "onUnknown", "onMissing", "defaultResults"];

/// Parses the body of a `forEach` step.
pub(crate) fn parse_for_each(
    fields: &ObjectFields<'_>,
    index: usize,
    report: &mut ParseReport,
) -> Option<(ForEach, CallRules)> {
    for key in ["tool", "message"] {
        if fields.get(key).is_some() {
            let message = format!("{}: forEach step must not have '{key}' field", fields.path);
            let mut problem = fields.missing(key, "");
            problem.message = message;
            report.problem(problem.hint("put the call under `step`"));
        }
    }
    let collection = match fields.get("collection") {
        Some(place) if place.text(report) != Some("") => {
            parse_template(&place, TemplateSite::Step(index, StepPart::Collection), report)
        }
        _ => {
            report.problem(fields.missing("collection", "is required for forEach steps"));
            None
        }
    };
    let item = parse_item_name(fields, report);
    let parallel = parse_bounded(fields, "maxParallel", ITERATIONS_PARALLEL, report);
    let iterations = parse_bounded(fields, "maxIterations", ITERATIONS, report);
    let (call, on_error, rules) = parse_inner_step(fields, index, &item, report)?;
    Some((ForEach { collection: collection?, item, parallel, iterations, call, on_error }, rules))
}

fn parse_item_name(fields: &ObjectFields<'_>, report: &mut ParseReport) -> String {
    let Some(place) = fields.get("itemVar") else { return ITEM.to_owned() };
    let Some(item) = place.text(report).filter(|item| !item.is_empty()) else { return ITEM.to_owned() };
    if !is_identifier(item) {
        report.problem(place.problem(&format!("must be a valid Go identifier (got \"{}\")", excerpt(item))));
    } else if item == "index" {
        report.problem(place.problem("cannot be 'index' (reserved)"));
    }
    item.to_owned()
}

/// Checks a Go identifier: letters, digits and `_`, not starting with a digit.
fn is_identifier(text: &str) -> bool {
    let letter = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(letter) && text.chars().all(|c| letter(c) || c.is_numeric())
}

/// Parses a number of items; 0 selects the default.
fn parse_bounded(
    fields: &ObjectFields<'_>,
    key: &str,
    (default, most): (usize, usize),
    report: &mut ParseReport,
) -> usize {
    let Some(place) = fields.get(key) else { return default };
    let Some(number) = place.integer(report) else { return default };
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

/// Parses the inner call and its failure policy.
fn parse_inner_step(
    fields: &ObjectFields<'_>,
    index: usize,
    item: &str,
    report: &mut ParseReport,
) -> Option<(ToolCall, OnError, CallRules)> {
    let Some(place) = fields.get("step") else {
        report.problem(fields.missing("step", "is required for forEach steps"));
        return None;
    };
    let fields = place.fields(&FIELDS, report)?;
    if fields.get("id").is_none() {
        let message = "a step inside of forEach needs an `id` in ToolHive";
        report.note(place.node.line, &*place.path, message);
    }
    match fields.text("type", report) {
        None | Some("tool") => {}
        Some(other) => {
            let message =
                format!("must be 'tool' (got \"{}\"); only tool inner steps are supported", excerpt(other));
            report.problem(fields.get("type")?.problem(&message));
            return None;
        }
    }
    for key in IGNORED {
        if let Some(place) = fields.get(key) {
            report.warn(
                place.problem("has no effect in the step of a forEach").hint("move it to the forEach step"),
            );
        }
    }
    let at = TemplateSite::Step(index, StepPart::Each(item.to_owned()));
    let call = parse_call(&fields, &at, "is required for tool inner steps", report);
    let rules = parse_call_rules(&fields, index, Some(item), report);
    Some((call, parse_on_error(&fields, report), rules))
}
