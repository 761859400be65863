//! Calls for each item of a list.

use super::{
    ForEach, ITERATIONS, ITERATIONS_PARALLEL, OnError,
    arguments::call,
    place::{Fields, Reading, shown},
    steps::{self, on_error},
    uses::{At, Part, template},
};

/// The item's name where the definition gives none.
const ITEM: &str = "item";
/// What ToolHive ignores in an inner step.
const IGNORED: [&str; 4] = ["condition", "dependsOn", "timeout", "defaultResults"];

/// Reads what a step does for each item.
pub(super) fn for_each(fields: &Fields<'_>, index: usize, reading: &mut Reading) -> Option<ForEach> {
    for key in ["tool", "message"] {
        if fields.get(key).is_some() {
            let said = format!("{}: forEach step must not have '{key}' field", fields.path);
            let mut problem = fields.missing(key, "");
            problem.message = said;
            reading.problem(problem.hint("the call stands under `step`"));
        }
    }
    let collection = match fields.get("collection") {
        Some(place) if place.text(reading) != Some("") => {
            template(&place, At::Step(index, Part::Collection), reading)
        }
        _ => {
            reading.problem(fields.missing("collection", "is required for forEach steps"));
            None
        }
    };
    let item = item(fields, reading);
    let parallel = bounded(fields, "maxParallel", ITERATIONS_PARALLEL, reading);
    let iterations = bounded(fields, "maxIterations", ITERATIONS, reading);
    let (call, on_error) = inner(fields, index, &item, reading)?;
    Some(ForEach { collection: collection?, item, parallel, iterations, call, on_error })
}

fn item(fields: &Fields<'_>, reading: &mut Reading) -> String {
    let Some(place) = fields.get("itemVar") else { return ITEM.to_owned() };
    let Some(item) = place.text(reading).filter(|item| !item.is_empty()) else { return ITEM.to_owned() };
    if !is_identifier(item) {
        reading.problem(place.problem(&format!("must be a valid Go identifier (got \"{}\")", shown(item))));
    } else if item == "index" {
        reading.problem(place.problem("cannot be 'index' (reserved)"));
    }
    item.to_owned()
}

/// A Go identifier: letters, digits and `_`, with no digit first.
fn is_identifier(text: &str) -> bool {
    let letter = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(letter) && text.chars().all(|c| letter(c) || c.is_numeric())
}

/// A number of items; 0 is as none said.
fn bounded(fields: &Fields<'_>, key: &str, (default, most): (usize, usize), reading: &mut Reading) -> usize {
    let Some(place) = fields.get(key) else { return default };
    let Some(number) = place.whole(reading) else { return default };
    match usize::try_from(number) {
        Ok(0) => default,
        Ok(number) if number <= most => number,
        Ok(_) => {
            reading.problem(place.problem(&format!("must be <= {most} (got {number})")));
            most
        }
        Err(_) => {
            reading.problem(place.problem(&format!("must be >= 0 (got {number})")));
            default
        }
    }
}

/// The call, and what follows when it fails for one item.
fn inner(
    fields: &Fields<'_>,
    index: usize,
    item: &str,
    reading: &mut Reading,
) -> Option<(super::ToolCall, OnError)> {
    let Some(place) = fields.get("step") else {
        reading.problem(fields.missing("step", "is required for forEach steps"));
        return None;
    };
    let fields = place.fields(&steps::FIELDS, reading)?;
    if fields.get("id").is_none() {
        let said = "a step inside of forEach needs an `id` in ToolHive";
        reading.note(place.node.line, &*place.path, said);
    }
    match fields.text("type", reading) {
        None | Some("tool") => {}
        Some(other) => {
            let said =
                format!("must be 'tool' (got \"{}\"); only tool inner steps are supported", shown(other));
            reading.problem(fields.get("type")?.problem(&said));
            return None;
        }
    }
    for key in IGNORED {
        if let Some(place) = fields.get(key) {
            reading
                .warn(place.problem("means nothing in the step of a forEach").hint("write it one level up"));
        }
    }
    let at = At::Step(index, Part::Each(item.to_owned()));
    let call = call(&fields, &at, "is required for tool inner steps", reading);
    Some((call, on_error(&fields, reading)))
}
