//! What a workflow's result is made of.

use super::{
    From, Output, Property, PropertyKind,
    place::{Place, Reading, join, shown},
    uses::{At, template},
};
use crate::{Problem, yaml::MapEntry};

/// Properties inside each other.
const DEPTH: usize = 10;
const KINDS: [(&str, PropertyKind); 6] = [
    ("string", PropertyKind::String),
    ("integer", PropertyKind::Integer),
    ("number", PropertyKind::Number),
    ("boolean", PropertyKind::Boolean),
    ("object", PropertyKind::Object),
    ("array", PropertyKind::Array),
];

/// Reads `output`.
pub(super) fn output(place: &Place<'_>, reading: &mut Reading) -> Option<Output> {
    let fields = place.fields(&["properties", "required"], reading)?;
    let properties = match fields.get("properties") {
        Some(inner) => properties(&inner, place, 1, reading),
        None => {
            reading.problem(empty(place));
            Vec::new()
        }
    };
    let mut required = Vec::new();
    if let Some(list) = fields.get("required") {
        for item in list.items(reading).unwrap_or_default() {
            let Some(name) = item.text(reading) else { continue };
            if !properties.iter().any(|(known, _)| known == name) {
                let said = format!(
                    "{}: required field \"{}\" does not exist in properties",
                    place.path,
                    shown(name)
                );
                let problem = Problem::new(item.node.line, &*item.path, said);
                let names = properties.iter().map(|(name, _)| name.as_str());
                reading.problem(reading.advise(problem, name, names));
            }
            required.push(name.to_owned());
        }
    }
    Some(Output { properties, required })
}

fn empty(place: &Place<'_>) -> Problem {
    let said = format!("{}: output properties cannot be empty", place.path);
    Problem::new(place.node.line, &*place.path, said).hint("leave `output` out for the last step's result")
}

fn properties(
    place: &Place<'_>,
    output: &Place<'_>,
    depth: usize,
    reading: &mut Reading,
) -> Vec<(String, Property)> {
    let Some(entries) = place.entries(reading) else { return Vec::new() };
    if entries.is_empty() {
        reading.problem(empty(output));
    }
    if depth > DEPTH {
        let said = format!("{}: output properties lie more than {DEPTH} deep in each other", output.path);
        reading.problem(Problem::new(place.node.line, &*place.path, said));
        return Vec::new();
    }
    let properties = entries.iter().filter_map(|entry| {
        let place = Place::new(&entry.node, join(&place.path, &shown(&entry.key)));
        Some((entry.key.clone(), property(entry, &place, output, depth, reading)?))
    });
    properties.collect()
}

fn property(
    entry: &MapEntry,
    place: &Place<'_>,
    output: &Place<'_>,
    depth: usize,
    reading: &mut Reading,
) -> Option<Property> {
    const WRITE: &str = "write {type: string, description: …, value: '{{…}}'}";
    if place.written(reading, "an object", |_| WRITE.to_owned()) {
        return None;
    }
    let fields = place.fields(&["type", "description", "value", "properties", "default"], reading)?;
    let name = shown(&entry.key);
    let wrong = |key: &str, said: &str| {
        let path = if key.is_empty() { place.path.clone() } else { join(&place.path, key) };
        Problem::new(entry.line, path, format!("{}: property \"{name}\" {said}", output.path))
    };
    let kind = match fields.text("type", reading) {
        None if fields.is_of_another_kind("type") => None,
        None => {
            reading.problem(wrong("type", "is missing required field 'type'"));
            None
        }
        Some(written) => {
            let kind = KINDS.iter().find(|(known, _)| *known == written).map(|(_, kind)| *kind);
            if kind.is_none() {
                let names = KINDS.map(|(name, _)| name);
                let said =
                    format!("has invalid type \"{}\"; it is one of: {}", shown(written), names.join(", "));
                reading.problem(reading.advise(wrong("type", &said), written, names));
            }
            kind
        }
    };
    let description = fields.text("description", reading);
    if description.is_none() && !fields.is_of_another_kind("description") {
        let problem = wrong("description", "is missing required field 'description'");
        reading.problem(problem.hint("say in a sentence what it is"));
    }
    let from = match (fields.get("value"), fields.get("properties")) {
        (Some(_), Some(_)) => {
            reading.problem(wrong("", "cannot have both 'value' and 'properties'"));
            None
        }
        (None, None) => {
            reading.problem(wrong("", "must have either 'value' or 'properties'"));
            None
        }
        (None, Some(_)) if kind.is_some_and(|kind| kind != PropertyKind::Object) => {
            reading.problem(wrong("properties", "must have 'value': only an object has 'properties'"));
            None
        }
        (None, Some(inner)) => Some(From::Properties(properties(&inner, output, depth + 1, reading))),
        (Some(value), None) => {
            template(&value, At::Output(kind.unwrap_or(PropertyKind::String)), reading).map(From::Value)
        }
    };
    let default = fields.get("default").and_then(|place| place.json(reading));
    let description = description.unwrap_or_default().to_owned();
    Some(Property { kind: kind?, description, from: from?, default, line: entry.line })
}
