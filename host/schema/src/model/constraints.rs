//! Constraints in words. Clients drop bounds, formats and defaults from the schemas that models see.

use serde_json::Value;

use crate::{
    model::{formats, sanitise::sanitise_line, secrets::SecretMap},
    text::show::{allowed, cut, json},
};

/// Characters of a default.
const DEFAULT: usize = 40;
/// Characters of a pattern.
const PATTERN: usize = 60;

/// Describes a parameter: the author's text, then its constraints and default.
pub(crate) fn describe(schema: &Value) -> String {
    let text = ["description", "title"]
        .iter()
        .find_map(|key| schema.get(*key)?.as_str().filter(|text| !text.trim().is_empty()))
        .map_or_else(String::new, |text| sanitise_line(text, usize::MAX));
    let bounds = constraints(schema);
    match (text.is_empty(), bounds.is_empty()) {
        (_, true) => text,
        (true, false) => bounds,
        (false, false) => format!("{}; {bounds}", text.trim_end_matches(['.', ';'])),
    }
}

/// Lists the constraints and the default of a resolved schema, separated by commas. May be empty.
pub(crate) fn constraints(schema: &Value) -> String {
    let mut out = collect(schema);
    match schema.get("default") {
        None | Some(Value::Null) => {}
        // An empty default is what readers expect anyway.
        Some(Value::Array(items)) if items.is_empty() => {}
        Some(Value::Object(members)) if members.is_empty() => {}
        Some(Value::String(text)) if text.is_empty() => {}
        Some(_) if SecretMap::from_schema(schema).has_secrets() => out.push("has a default".into()),
        Some(default) => out.push(format!("default {}", cut(&allowed(default), DEFAULT))),
    }
    if schema.get("deprecated") == Some(&Value::Bool(true)) {
        out.push("deprecated".into());
    }
    out.join(", ")
}

fn collect(schema: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    out.extend(values_in_words(schema));
    number_range(schema, &mut out);
    if let Some(span) = span(count("minLength"), count("maxLength"), "character") {
        out.push(span);
    }
    if let Some(example) = text("format").and_then(formats::find) {
        out.push(format!("{} like {}", example.name, example.sample));
    }
    if let Some(pattern) = text("pattern") {
        out.push(format!("matches {}", cut(pattern, PATTERN)));
    }
    if let Some(span) = span(count("minItems"), count("maxItems"), "item") {
        out.push(span);
    }
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        out.push("no repeats".into());
    }
    if let Some(span) = span(count("minProperties"), count("maxProperties"), "entry") {
        out.push(span);
    }
    if let Some(items) = schema.get("items") {
        let each = collect(items);
        if !each.is_empty() {
            out.push(format!("each {}", each.join(" and ")));
        }
    }
    out
}

/// The allowed values, if the `enum` of a published schema cannot list them.
pub(crate) fn values_in_words(schema: &Value) -> Option<String> {
    let values = schema.as_object().and_then(crate::model::keywords::allowed_values)?;
    if values.iter().all(|value| value.is_null() || value.as_str().is_some_and(|text| !text.is_empty())) {
        return None;
    }
    let values: Vec<String> = values.iter().take(32).map(allowed).collect();
    Some(match values.as_slice() {
        [only] => format!("always {only}"),
        values => format!("one of {}", values.join(", ")),
    })
}

/// Appends the bounds of a number.
pub(crate) fn number_range(schema: &Value, out: &mut Vec<String>) {
    let bound = |key: &str| schema.get(key).filter(|value| value.is_number());
    let unsigned = schema.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("uint"));
    match (bound("minimum"), bound("maximum")) {
        // Counts are not negative.
        (Some(min), None) if unsigned && min.as_f64() == Some(0.0) => {}
        (Some(min), Some(max)) if min.as_f64() < Some(0.0) => out.push(format!("{min} to {max}")),
        (Some(min), Some(max)) => out.push(format!("{min}-{max}")),
        (Some(min), None) => out.push(format!("min {min}")),
        (None, Some(max)) => out.push(format!("max {max}")),
        (None, None) => {}
    }
    if let Some(min) = bound("exclusiveMinimum") {
        out.push(format!("more than {min}"));
    }
    if let Some(max) = bound("exclusiveMaximum") {
        out.push(format!("less than {max}"));
    }
    if let Some(step) = bound("multipleOf") {
        out.push(format!("a multiple of {}", json(step, DEFAULT)));
    }
}

/// A range of counts: `1-50 items`, `min 2 characters`, `not empty`.
pub(crate) fn span(min: Option<u64>, max: Option<u64>, unit: &str) -> Option<String> {
    let units = |count: u64| match (unit, count) {
        (unit, 1) => unit.to_owned(),
        ("entry", _) => "entries".to_owned(),
        (unit, _) => format!("{unit}s"),
    };
    match (min.filter(|min| *min > 0), max) {
        (Some(min), Some(max)) if min == max => Some(format!("exactly {max} {}", units(max))),
        (Some(min), Some(max)) => Some(format!("{min}-{max} {}", units(max))),
        (Some(1), None) => Some("not empty".to_owned()),
        (Some(min), None) => Some(format!("min {min} {}", units(min))),
        (None, Some(max)) => Some(format!("max {max} {}", units(max))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn constraints_and_defaults_are_described() {
        for (schema, expected) in [
            (json!({"type": "string"}), ""),
            (
                json!({"description": "What it says.", "minLength": 1, "maxLength": 4000}),
                "What it says; 1-4000 characters",
            ),
            (
                json!({"description": "How many", "minimum": 1, "maximum": 50, "default": 10}),
                "How many; 1-50, default 10",
            ),
            (json!({"default": "hush", "writeOnly": true}), "has a default"),
            (json!({"minimum": -5, "maximum": 5}), "-5 to 5"),
            (json!({"minimum": 0, "format": "uint32"}), ""),
            (json!({"minimum": 0}), "min 0"),
            (json!({"exclusiveMinimum": 0, "exclusiveMaximum": 1.5}), "more than 0, less than 1.5"),
            (json!({"maximum": 9, "multipleOf": 3}), "max 9, a multiple of 3"),
            (json!({"minLength": 1}), "not empty"),
            (json!({"maxLength": 1}), "max 1 character"),
            (json!({"minLength": 4, "maxLength": 4}), "exactly 4 characters"),
            (json!({"pattern": "^n_[0-9]+$"}), "matches ^n_[0-9]+$"),
            (json!({"format": "date"}), "date like 2026-01-31"),
            (json!({"format": "int64"}), ""),
            (json!({"minItems": 1, "maxItems": 3, "uniqueItems": true}), "1-3 items, no repeats"),
            (json!({"items": {"minimum": 1, "maximum": 5}}), "each 1-5"),
            (json!({"minProperties": 2}), "min 2 entries"),
            (json!({"enum": [1, 2, 3]}), "one of 1, 2, 3"),
            (json!({"const": 5}), "always 5"),
            (json!({"enum": ["", "a", null]}), "one of \"\", a, null"),
            (json!({"enum": ["a", "b"], "default": "a"}), "default a"),
            (json!({"default": null, "deprecated": true}), "deprecated"),
            (json!({"default": "two words"}), "default \"two words\""),
            (json!({"title": "Only a title"}), "Only a title"),
            (json!({"description": "Nothing.", "default": []}), "Nothing."),
            (json!({"description": "Why?", "default": "", "minLength": 2}), "Why?; min 2 characters"),
            (json!({"description": "Two\n  lines.", "default": [1]}), "Two lines; default [1]"),
        ] {
            assert_eq!(describe(&schema), expected, "{schema}");
        }
    }
}
