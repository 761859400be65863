//! Parser of result shapes.

use super::template::parse_template;
use crate::{
    FileProblem,
    definition::{
        model::{PropertySource, PropertyType, ResultProperty, ResultShape},
        place::{NodePlace, join},
        report::ParseReport,
        template_use::TemplateSite,
    },
    yaml::{MapEntry, excerpt},
};

/// Maximum nesting depth of properties.
const DEPTH: usize = 10;
const KINDS: [(&str, PropertyType); 6] = [
    ("string", PropertyType::String),
    ("integer", PropertyType::Integer),
    ("number", PropertyType::Number),
    ("boolean", PropertyType::Boolean),
    ("object", PropertyType::Object),
    ("array", PropertyType::Array),
];

/// Parses `output`.
pub(crate) fn parse_output(place: &NodePlace<'_>, report: &mut ParseReport) -> Option<ResultShape> {
    let fields = place.fields(&["properties", "required"], report)?;
    let properties = match fields.get("properties") {
        Some(inner) => parse_properties(&inner, place, 1, report),
        None => {
            report.problem(empty_output(place));
            Vec::new()
        }
    };
    let mut required = Vec::new();
    if let Some(list) = fields.get("required") {
        for item in list.items(report).unwrap_or_default() {
            let Some(name) = item.text(report) else { continue };
            if !properties.iter().any(|(known, _)| known == name) {
                let message = format!(
                    "{}: required field \"{}\" does not exist in properties",
                    place.path,
                    excerpt(name)
                );
                let problem = FileProblem::new(item.node.line, &*item.path, message);
                let names = properties.iter().map(|(name, _)| name.as_str());
                report.problem(report.with_suggestion(problem, name, names));
            }
            required.push(name.to_owned());
        }
    }
    Some(ResultShape { properties, required })
}

fn empty_output(place: &NodePlace<'_>) -> FileProblem {
    let message = format!("{}: output properties cannot be empty", place.path);
    FileProblem::new(place.node.line, &*place.path, message)
        .hint("omit `output` to return the last step's result")
}

fn parse_properties(
    place: &NodePlace<'_>,
    output: &NodePlace<'_>,
    depth: usize,
    report: &mut ParseReport,
) -> Vec<(String, ResultProperty)> {
    let Some(entries) = place.entries(report) else { return Vec::new() };
    if entries.is_empty() {
        report.problem(empty_output(output));
    }
    if depth > DEPTH {
        let message = format!("{}: output properties are nested more than {DEPTH} deep", output.path);
        report.problem(FileProblem::new(place.node.line, &*place.path, message));
        return Vec::new();
    }
    let properties = entries.iter().filter_map(|entry| {
        let place = NodePlace::new(&entry.node, join(&place.path, &excerpt(&entry.key)));
        Some((entry.key.clone(), parse_property(entry, &place, output, depth, report)?))
    });
    properties.collect()
}

fn parse_property(
    entry: &MapEntry,
    place: &NodePlace<'_>,
    output: &NodePlace<'_>,
    depth: usize,
    report: &mut ParseReport,
) -> Option<ResultProperty> {
    const WRITE: &str = "write {type: string, description: …, value: '{{…}}'}";
    if place.refuse_text(report, "an object", |_| WRITE.to_owned()) {
        return None;
    }
    let fields = place.fields(&["type", "description", "value", "properties", "default"], report)?;
    let name = excerpt(&entry.key);
    let wrong = |key: &str, message: &str| {
        let path = if key.is_empty() { place.path.clone() } else { join(&place.path, key) };
        FileProblem::new(entry.line, path, format!("{}: property \"{name}\" {message}", output.path))
    };
    let kind = match fields.text("type", report) {
        None if fields.is_of_another_kind("type") => None,
        None => {
            report.problem(wrong("type", "is missing required field 'type'"));
            None
        }
        Some(written) => {
            let kind = KINDS.iter().find(|(known, _)| *known == written).map(|(_, kind)| *kind);
            if kind.is_none() {
                let names = KINDS.map(|(name, _)| name);
                let message = format!(
                    "has invalid type \"{}\"; must be one of: {}",
                    excerpt(written),
                    names.join(", ")
                );
                report.problem(report.with_suggestion(wrong("type", &message), written, names));
            }
            kind
        }
    };
    let description = fields.text("description", report);
    if description.is_none() && !fields.is_of_another_kind("description") {
        let problem = wrong("description", "is missing required field 'description'");
        report.problem(problem.hint("describe it in a sentence"));
    }
    let from = match (fields.get("value"), fields.get("properties")) {
        (Some(_), Some(_)) => {
            report.problem(wrong("", "cannot have both 'value' and 'properties'"));
            None
        }
        (None, None) => {
            report.problem(wrong("", "must have either 'value' or 'properties'"));
            None
        }
        (None, Some(_)) if kind.is_some_and(|kind| kind != PropertyType::Object) => {
            report.problem(wrong("properties", "must have 'value': only objects have 'properties'"));
            None
        }
        (None, Some(inner)) => {
            Some(PropertySource::Properties(parse_properties(&inner, output, depth + 1, report)))
        }
        (Some(value), None) => {
            parse_template(&value, TemplateSite::Output(kind.unwrap_or(PropertyType::String)), report)
                .map(PropertySource::Value)
        }
    };
    let default = fields.get("default").and_then(|place| place.json(report));
    let description = description.unwrap_or_default().to_owned();
    Some(ResultProperty { kind: kind?, description, from: from?, default, line: entry.line })
}
