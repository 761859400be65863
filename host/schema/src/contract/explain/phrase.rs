//! What a schema wants, and what was sent, in a few words.

use std::fmt::Write as _;

use jsonschema::{JsonType, error::TypeKind};
use serde_json::Value;

use crate::{
    model::{keywords::values, shape::Shape, signature::kind, words},
    text::show::allowed,
};

/// Allowed values that are listed.
const LISTED: usize = 40;
/// Bytes of such a list, beyond which it ends.
const LONG: usize = 400;

/// The kinds of values that a `type` allows.
pub(crate) fn kinds(kind: &TypeKind) -> String {
    let names: Vec<&str> = match kind {
        TypeKind::Single(kind) => vec![a(*kind)],
        // That null would do is no news to somebody who sent something.
        TypeKind::Multiple(kinds) => kinds.iter().filter(|kind| *kind != JsonType::Null).map(a).collect(),
    };
    names.join(" or ")
}

fn a(kind: JsonType) -> &'static str {
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

/// What a schema wants, in a few words.
pub(crate) fn phrase(schema: &Value) -> String {
    fn of(shape: &Shape) -> String {
        match shape {
            Shape::Boolean => "true or false".into(),
            Shape::Number { integer: true, .. } => "an integer".into(),
            Shape::Number { .. } => "a number".into(),
            Shape::Text(None) => "a string".into(),
            Shape::Text(Some(values)) if values.len() > 1 => {
                format!("one of {}", kind(shape, 1).replace('|', ", "))
            }
            Shape::List(_) => "an array".into(),
            Shape::Union(shapes) => shapes.iter().map(of).collect::<Vec<_>>().join(" or "),
            other => kind(other, 2),
        }
    }
    match schema.as_object().and_then(values) {
        Some([only]) => allowed(only),
        Some(values) => format!("one of {}", list(values)),
        None => of(&Shape::of(schema)),
    }
}

/// What an `enum` allows.
pub(crate) fn one_of(options: &Value) -> String {
    match options.as_array().map(Vec::as_slice) {
        Some([only]) => allowed(only),
        Some(values) => format!("one of {}", list(values)),
        None => "one of its values".to_owned(),
    }
}

/// Values, as far as they are worth reading.
pub(crate) fn list(values: &[Value]) -> String {
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

/// ` (got 5)`, counting what was sent.
pub(crate) fn long(sent: &Value) -> String {
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

/// What a schema wants, with its bounds.
pub(crate) fn wanted(schema: &Value) -> String {
    let bounds = words::bounds(schema);
    match phrase(schema) {
        phrase if bounds.is_empty() => phrase,
        phrase if phrase == "any" => format!("a value with {bounds}"),
        // Values that are listed are the bounds.
        phrase if schema.as_object().and_then(values).is_some() => phrase,
        phrase => format!("{phrase} ({bounds})"),
    }
}
