//! Questions to the person.

use loggia_facade::Object;
use loggia_schema::Questionnaire;

use super::{
    Ask, Otherwise,
    place::{Fields, Place, Reading},
    uses::{At, Part, template},
};
use crate::Problem;

/// Reads what a step asks.
pub(super) fn question(fields: &Fields<'_>, index: usize, reading: &mut Reading) -> Option<Ask> {
    let message = match fields.get("message") {
        Some(place) if place.text(reading) != Some("") => {
            template(&place, At::Step(index, Part::Message), reading)
        }
        _ => {
            reading.problem(fields.missing("message", "is required when type is elicitation"));
            None
        }
    };
    let schema = match fields.get("schema") {
        Some(place) => schema(&place, reading),
        None => {
            let missing = fields.missing("schema", "is required for elicitation steps");
            reading.problem(missing.hint("write an object schema with the fields of the form"));
            None
        }
    };
    let on_decline = otherwise(fields, "onDecline", reading);
    let on_cancel = otherwise(fields, "onCancel", reading);
    Some(Ask { message: message?, schema: schema?, on_decline, on_cancel })
}

fn schema(place: &Place<'_>, reading: &mut Reading) -> Option<Object> {
    let mut schema = place.object(reading)?;
    if schema.contains_key("properties") && !schema.contains_key("type") {
        schema.insert("type".into(), "object".into());
    }
    let said = match schema.contains_key("type") {
        true => Questionnaire::new(&schema).err(),
        false => Some("its type must be object".to_owned()),
    };
    let Some(said) = said else { return Some(schema) };
    let said = format!("{}: invalid JSON Schema: {said}", place.path);
    let problem = Problem::new(place.node.line, &*place.path, said);
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    reading.problem(match is_object {
        true => problem,
        false => problem.hint("write type: object, and the question's field under properties"),
    });
    None
}

fn otherwise(fields: &Fields<'_>, key: &str, reading: &mut Reading) -> Otherwise {
    const ACTIONS: [&str; 3] = ["abort", "continue", "skip_remaining"];
    let Some(place) = fields.get(key) else { return Otherwise::Abort };
    let Some(fields) = place.fields(&["action"], reading) else { return Otherwise::Abort };
    match fields.text("action", reading) {
        None => reading.problem(fields.missing("action", "is required")),
        Some("abort") => {}
        Some("continue") => return Otherwise::Continue,
        Some("skip_remaining") => {
            let said =
                "`skip_remaining` runs the remaining steps all the same in ToolHive; here it skips them";
            reading.note(place.node.line, &*place.path, said);
            return Otherwise::SkipRemaining;
        }
        Some(other) => {
            let said = format!("must be one of: {}", ACTIONS.join(", "));
            let problem =
                fields.get("action").map_or_else(|| fields.missing("action", &said), |p| p.problem(&said));
            reading.problem(reading.advise(problem, other, ACTIONS));
        }
    }
    Otherwise::Abort
}
