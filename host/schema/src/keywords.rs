//! What the keywords of JSON Schema 2020-12 hold, and which of them only tell.

use loggia_facade::Object;
use serde_json::Value;

/// In what way a keyword holds further schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One schema.
    One,
    /// Schemas by name.
    Map,
    /// Schemas in a list.
    List,
}

/// Whether, and in what way, a keyword holds further schemas.
pub(crate) fn holds(keyword: &str) -> Option<Holds> {
    Some(match keyword {
        "items"
        | "additionalProperties"
        | "propertyNames"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::One,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => Holds::Map,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
        _ => return None,
    })
}

/// Whether a keyword tells something to readers and constrains nothing.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
    ) || is_text(keyword)
        || keyword.starts_with("x-")
}

/// Whether a keyword's value is text for readers.
pub(crate) fn is_text(keyword: &str) -> bool {
    matches!(keyword, "title" | "description" | "$comment" | "x-hint" | "when_to_change")
}

/// The schemas directly inside a schema.
pub(crate) fn children(schema: &Object) -> impl Iterator<Item = &Value> {
    schema.iter().flat_map(|(keyword, value)| {
        let (one, map, list) = match (holds(keyword), value) {
            (Some(Holds::One), value) => (Some(value), None, None),
            (Some(Holds::Map), Value::Object(map)) => (None, Some(map.values()), None),
            (Some(Holds::List), Value::Array(list)) => (None, None, Some(list.iter())),
            _ => (None, None, None),
        };
        one.into_iter().chain(map.into_iter().flatten()).chain(list.into_iter().flatten())
    })
}

/// The author's advice on when and how to change a parameter.
pub(crate) fn hint(schema: &Value) -> Option<&str> {
    ["x-hint", "when_to_change"]
        .iter()
        .find_map(|key| schema.get(key)?.as_str())
        .filter(|text| !text.is_empty())
}

/// Whether a value of this schema, or a part of it, must never be shown.
pub(crate) fn holds_secret(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return false };
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("x-secret") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
        || children(schema).any(holds_secret)
}

/// The lists of alternatives of a schema: its `anyOf` and its `oneOf`.
pub(crate) fn alternatives(schema: &Object) -> impl Iterator<Item = &Vec<Value>> {
    ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array())
}

/// The schemas that must hold beside a schema: its `allOf`.
pub(crate) fn conjuncts(schema: &Object) -> impl Iterator<Item = &Object> {
    schema.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// The schema of a property: of its own, or in one of the schemas that hold beside or instead.
pub(crate) fn property<'a>(schema: &'a Object, name: &str) -> Option<&'a Value> {
    schema.get("properties").and_then(|properties| properties.get(name)).or_else(|| {
        conjuncts(schema)
            .chain(alternatives(schema).flatten().filter_map(Value::as_object))
            .chain(["then", "else"].iter().filter_map(|key| schema.get(*key)?.as_object()))
            .find_map(|part| property(part, name))
    })
}

/// Whether a list of names, as under `required`, holds one.
pub(crate) fn lists(schema: &Object, keyword: &str, name: &str) -> bool {
    schema.get(keyword).and_then(Value::as_array).is_some_and(|names| names.iter().any(|n| n == name))
}
