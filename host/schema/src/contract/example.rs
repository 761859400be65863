//! Generates example parameters from a schema. The caller checks whether they are valid.

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::model::{
    formats,
    keywords::{self, allowed_values},
};

/// Generates a plausible value of a resolved schema, with required members only.
pub(crate) fn synthesise(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return json!("any") };
    let given = schema.get("examples").and_then(Value::as_array).and_then(|examples| examples.first());
    let first = allowed_values(schema).and_then(|values| values.iter().find(|value| !value.is_null()));
    let default = schema.get("default").filter(|default| !default.is_null());
    if let Some(value) = given.or(default).or(first) {
        return value.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|k| *k != "null").unwrap_or("null")
        }
        _ if schema.contains_key("properties") => "object",
        _ => match alternative(schema) {
            Some(schema) => return synthesise(schema),
            None => "string",
        },
    };
    match kind {
        "boolean" => json!(true),
        "integer" | "number" => number_example(schema, kind == "integer"),
        "array" => array_example(schema),
        "object" => Value::Object(object_example(schema)),
        "null" => Value::Null,
        _ => string_example(schema),
    }
}

/// The first alternative, or the first schema of `allOf`.
fn alternative(schema: &Object) -> Option<&Value> {
    let conjuncts = schema.get("allOf").and_then(Value::as_array);
    keywords::alternatives(schema).chain(conjuncts).find_map(|branches| branches.first())
}

fn object_example(schema: &Object) -> Object {
    let mut out = Object::new();
    require(schema, schema, &mut out);
    for part in keywords::conjuncts(schema) {
        require(part, schema, &mut out);
    }
    for branches in keywords::alternatives(schema) {
        if let Some(Value::Object(branch)) = branches.first() {
            require(branch, schema, &mut out);
        }
    }
    out
}

/// Adds the members that `part` requires, by the schemas of `part` or of the `whole`.
fn require(part: &Object, whole: &Object, out: &mut Object) {
    let required = part.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !out.contains_key(name) {
            let schema = keywords::property(part, name).or_else(|| keywords::property(whole, name));
            out.insert(name.to_owned(), schema.map_or_else(|| json!("any"), synthesise));
        }
    }
}

fn array_example(schema: &Object) -> Value {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, 8);
    let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let any = Value::Bool(true);
    let items = schema.get("items").unwrap_or(&any);
    if *items == Value::Bool(false) {
        return first.iter().map(synthesise).collect();
    }
    let count = usize::try_from(least).unwrap_or(1).max(first.len());
    (0..count).map(|index| synthesise(first.get(index).unwrap_or(items))).collect()
}

fn number_example(schema: &Object, integer: bool) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = bound("multipleOf").unwrap_or(1.0);
    let value =
        match (bound("minimum"), bound("exclusiveMinimum"), bound("maximum"), bound("exclusiveMaximum")) {
            (Some(least), ..) if bound("multipleOf").is_none() => least,
            (Some(least), ..) => (least / step).ceil() * step,
            (None, Some(more_than), ..) => ((more_than / step).floor() + 1.0) * step,
            (None, None, Some(most), _) if most < step => (most / step).floor() * step,
            (None, None, None, Some(less_than)) if less_than <= step => {
                ((less_than / step).ceil() - 1.0) * step
            }
            _ => step,
        };
    #[allow(clippy::cast_possible_truncation, reason = "a saturated example is as good as any")]
    if integer || value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

fn string_example(schema: &Object) -> Value {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if let Some(format) = text("format").and_then(formats::find) {
        return format.sample.into();
    }
    let length = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let least = length("minLength").unwrap_or(0).min(256);
    let most = length("maxLength").unwrap_or(usize::MAX);
    let mut out: String = "text".chars().take(most).collect();
    while out.len() < least {
        out.push_str(" text");
    }
    out.truncate(least.max(4).min(most));
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::rules::compile;

    /// Checks the generated value, and that it is valid.
    fn check(schema: Value, expected: Value) {
        let value = synthesise(&schema);
        assert_eq!(value, expected, "{schema}");
        assert!(compile(&schema).unwrap().is_valid(&value), "{schema} of {value}");
    }

    #[test]
    fn generated_values_are_valid() {
        for (schema, expected) in [
            (json!({"type": "string"}), json!("text")),
            (json!({"type": "string", "minLength": 11}), json!("text text t")),
            (json!({"type": "string", "maxLength": 2}), json!("te")),
            (json!({"type": "string", "format": "date"}), json!("2026-01-31")),
            (json!({"enum": [null, "xs"]}), json!("xs")),
            (json!({"type": "integer", "default": 7, "examples": [8]}), json!(8)),
            (json!({"type": "integer", "minimum": 3}), json!(3)),
            (json!({"type": "integer", "exclusiveMinimum": 3, "multipleOf": 2}), json!(4)),
            (json!({"type": "integer", "minimum": 3, "multipleOf": 2}), json!(4)),
            (json!({"type": "integer", "maximum": -3}), json!(-3)),
            (json!({"type": "number", "exclusiveMaximum": 0.5, "multipleOf": 0.5}), json!(0)),
            (json!({"type": ["null", "boolean"]}), json!(true)),
            (json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}), json!([1, 1])),
            (
                json!({"type": "object", "required": ["a"], "properties": {"a": {"const": 1}, "b": {"const": 2}}}),
                json!({"a": 1}),
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                json!({"a": "text"}),
            ),
        ] {
            check(schema, expected);
        }
    }
}
