//! A schema, or a sent value, in a few words.

use std::fmt::Write as _;

use jsonschema::{JsonType, error::TypeKind};
use serde_json::Value;

use crate::{
    model::{constraints, keywords::allowed_values, shape::ValueShape, signature::type_text},
    text::show::allowed,
};

/// Values in a list.
const LISTED: usize = 40;
/// Bytes of a list, after which it is cut.
const LONG: usize = 400;

/// The types of a `type` keyword.
pub(crate) fn type_names(kind: &TypeKind) -> String {
    let names: Vec<&str> = match kind {
        TypeKind::Single(kind) => vec![with_article(*kind)],
        // Callers who sent a value do not need null as an option.
        TypeKind::Multiple(kinds) => {
            kinds.iter().filter(|kind| *kind != JsonType::Null).map(with_article).collect()
        }
    };
    names.join(" or ")
}

fn with_article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// Describes a schema in a few words.
pub(crate) fn phrase(schema: &Value) -> String {
    fn describe(shape: &ValueShape) -> String {
        match shape {
            ValueShape::Boolean => "true or false".into(),
            ValueShape::Number { integer: true, .. } => "an integer".into(),
            ValueShape::Number { .. } => "a number".into(),
            ValueShape::Text(None) => "a string".into(),
            ValueShape::Text(Some(values)) if values.len() > 1 => {
                format!("one of {}", type_text(shape, 1).replace('|', ", "))
            }
            ValueShape::List(_) => "an array".into(),
            ValueShape::Union(shapes) => shapes.iter().map(describe).collect::<Vec<_>>().join(" or "),
            other => type_text(other, 2),
        }
    }
    match schema.as_object().and_then(allowed_values) {
        Some([only]) => allowed(only),
        Some(values) => format!("one of {}", list_values(values)),
        None => describe(&ValueShape::from_schema(schema)),
    }
}

/// Describes the values of an `enum`.
pub(crate) fn one_of(options: &Value) -> String {
    match options.as_array().map(Vec::as_slice) {
        Some([only]) => allowed(only),
        Some(values) => format!("one of {}", list_values(values)),
        None => "one of its values".to_owned(),
    }
}

/// Lists values, up to a readable length.
pub(crate) fn list_values(values: &[Value]) -> String {
    let mut shown = String::new();
    for (index, value) in values.iter().filter(|value| !value.is_null()).enumerate() {
        if index > 0 {
            shown.push_str(", ");
        }
        if index == LISTED || shown.len() > LONG {
            let _ = write!(shown, "… ({} in all)", values.len());
            break;
        }
        shown.push_str(&allowed(value));
    }
    shown
}

/// ` (got 5)`: the length of a value.
pub(crate) fn got_length(sent: &Value) -> String {
    let length = match sent {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => return String::new(),
    };
    format!(" (got {length})")
}

/// `1 item`, `2 items`.
pub(crate) fn count(count: u64, unit: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{s}")
}

/// Describes a schema with its constraints.
pub(crate) fn phrase_with_constraints(schema: &Value) -> String {
    let bounds = constraints::constraints(schema);
    match phrase(schema) {
        phrase if bounds.is_empty() => phrase,
        phrase if phrase == "any" => format!("a value with {bounds}"),
        // Listed values are the constraints.
        phrase if schema.as_object().and_then(allowed_values).is_some() => phrase,
        phrase => format!("{phrase} ({bounds})"),
    }
}
