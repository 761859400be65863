//! Keywords of JSON Schema 2020-12: which hold subschemas, and which only annotate.

use loggia_facade::Object;
use serde_json::Value;

use crate::model::sanitise::sanitise_line;

/// How a keyword holds subschemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaLayout {
    /// A single schema.
    One,
    /// Schemas by name.
    Map,
    /// A list of schemas.
    List,
}

/// The layout of the subschemas that a keyword holds; none for other keywords.
pub(crate) fn subschemas(keyword: &str) -> Option<SubschemaLayout> {
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
        | "unevaluatedProperties" => SubschemaLayout::One,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            SubschemaLayout::Map
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => SubschemaLayout::List,
        _ => return None,
    })
}

/// Whether a keyword only annotates and constrains nothing.
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
            | "details"
    ) || is_text(keyword)
        || keyword.starts_with("x-")
}

/// Whether the value of a keyword is text for readers, or an object of such texts.
pub(crate) fn is_text(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "$comment"
            | "x-hint"
            | "x-when-to-change"
            | "when_to_change"
            | "details"
            | "x-details"
    )
}

/// The direct subschemas of a schema.
#[cfg(test)]
pub(crate) fn children(schema: &Object) -> impl Iterator<Item = &Value> {
    schema.iter().flat_map(|(keyword, value)| {
        let (one, map, list) = match (subschemas(keyword), value) {
            (Some(SubschemaLayout::One), value) => (Some(value), None, None),
            (Some(SubschemaLayout::Map), Value::Object(map)) => (None, Some(map.values()), None),
            (Some(SubschemaLayout::List), Value::Array(list)) => (None, None, Some(list.iter())),
            _ => (None, None, None),
        };
        one.into_iter().chain(map.into_iter().flatten()).chain(list.into_iter().flatten())
    })
}

/// The author's advice on how to set a parameter: `x-hint`.
pub(crate) fn hint(schema: &Value) -> Option<&str> {
    text(schema.get("x-hint"))
}

/// The author's advice on when to change a parameter, under any of the keys in use.
pub(crate) fn when_to_change(schema: &Value) -> Option<&str> {
    let own = ["x-when-to-change", "when_to_change"].iter().find_map(|key| text(schema.get(*key)));
    own.or_else(|| {
        ["details", "x-details"].iter().find_map(|key| text(schema.get(*key)?.get("when_to_change")))
    })
}

/// All advice of the author on a parameter, on one line.
pub(crate) fn advice(schema: &Value) -> Option<String> {
    let (hint, when) = (hint(schema), when_to_change(schema));
    let both = hint.into_iter().chain(when.filter(|when| hint != Some(*when)));
    let both: Vec<String> = both.map(|text| sanitise_line(text, ADVICE)).collect();
    (!both.is_empty()).then(|| both.join(" "))
}

/// Bytes of one piece of advice.
const ADVICE: usize = 400;

fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str().filter(|text| !text.trim().is_empty())
}

/// The alternatives of a schema: its `anyOf` and its `oneOf`.
pub(crate) fn alternatives(schema: &Object) -> impl Iterator<Item = &Vec<Value>> {
    ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array())
}

/// The schemas of `allOf`.
pub(crate) fn conjuncts(schema: &Object) -> impl Iterator<Item = &Object> {
    schema.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// The schemas of `dependentSchemas`.
fn dependents(schema: &Object) -> impl Iterator<Item = &Object> {
    let map = schema.get("dependentSchemas").and_then(Value::as_object);
    map.into_iter().flat_map(|map| map.values().filter_map(Value::as_object))
}

/// Finds the schema of a property, in the schema itself or in those that apply beside it or instead of it.
pub(crate) fn property<'a>(schema: &'a Object, name: &str) -> Option<&'a Value> {
    schema.get("properties").and_then(|properties| properties.get(name)).or_else(|| {
        conjuncts(schema)
            .chain(alternatives(schema).flatten().filter_map(Value::as_object))
            .chain(["then", "else"].iter().filter_map(|key| schema.get(*key)?.as_object()))
            .chain(dependents(schema))
            .find_map(|part| property(part, name))
    })
}

/// Collects every property name that a schema defines, including those in applied subschemas.
pub(crate) fn property_names<'a>(schema: &'a Object, out: &mut Vec<&'a str>) {
    for name in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Object::keys) {
        if !out.contains(&name.as_str()) {
            out.push(name);
        }
    }
    for (keyword, value) in schema {
        let inner: Vec<&Value> = match (keyword.as_str(), value) {
            ("if" | "then" | "else", value) => vec![value],
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter().collect(),
            ("dependentSchemas", Value::Object(map)) => map.values().collect(),
            _ => continue,
        };
        inner.into_iter().filter_map(Value::as_object).for_each(|inner| property_names(inner, out));
    }
}

/// Whether a list of names, such as `required`, contains a name.
pub(crate) fn lists_name(schema: &Object, keyword: &str, name: &str) -> bool {
    schema.get(keyword).and_then(Value::as_array).is_some_and(|names| names.iter().any(|n| n == name))
}

/// The values of `enum` or `const`.
pub(crate) fn allowed_values(schema: &Object) -> Option<&[Value]> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values),
        (_, Some(value)) => Some(std::slice::from_ref(value)),
        _ => None,
    }
}
