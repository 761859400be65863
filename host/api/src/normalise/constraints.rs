//! Keywords that constrain one value: which of them are kept, and their forms in JSON Schema 2020-12.

use loggia_facade::Object;
use loggia_text::is_clean;
use serde_json::{Value, json};

/// Values of one `enum`, at most. The contract refuses more.
const VALUES: usize = 200;
/// Bytes of a `pattern`, at most. The contract refuses more.
const PATTERN: usize = 256;
/// Bytes of an example, at most: it is a hint for the reader.
const EXAMPLE: usize = 100;

/// Formats that are checked for every call, or that say how bytes are passed.
const FORMATS: [&str; 9] = ["date", "date-time", "uuid", "email", "uri", "ipv4", "ipv6", "binary", "byte"];

/// Keywords whose values must be counts.
const COUNTS: [&str; 6] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// The type of a schema: as it says, or as its keywords imply. Unknown types are none.
pub(super) fn kind(schema: &Object) -> Option<Value> {
    let is_known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    match schema.get("type") {
        Some(kind @ Value::String(_)) if is_known(kind) => Some(kind.clone()),
        Some(Value::Array(kinds)) => {
            let mut known: Vec<Value> = kinds.iter().filter(|kind| is_known(kind)).cloned().collect();
            known.dedup();
            match known.len() {
                0 => None,
                1 => known.pop(),
                _ => Some(Value::Array(known)),
            }
        }
        _ if schema.get("properties").is_some_and(Value::is_object) => Some("object".into()),
        _ if schema.contains_key("items") => Some("array".into()),
        _ => None,
    }
}

/// The default of a scalar, as a text for readers.
///
/// It is no `default`: the gate fills those in before each call, and a change of one setting would then send the defaults of
/// all others.
pub(super) fn default_text(schema: &Object) -> Option<String> {
    let default = schema.get("default")?;
    let text = match default {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => default.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text.len() <= EXAMPLE && is_clean(&text)).then(|| format!("Default: {text}."))
}

/// Copies what constrains a request.
pub(super) fn copy(schema: &Object, out: &mut Object) {
    let kind = out.get("type").cloned();
    let is = |name: &str| kind.as_ref().is_some_and(|kind| kind == name);
    let mut put = |keyword: &str, value: Value| out.insert(keyword.into(), value);
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => usable_values(values),
        (_, Some(value)) => usable_values(std::slice::from_ref(value)),
        _ => None,
    };
    if let Some(values) = &values {
        put("enum", Value::Array(values.clone()));
    }
    for keyword in COUNTS {
        if let Some(count) = schema.get(keyword).and_then(Value::as_u64) {
            put(keyword, count.into());
        }
    }
    for (keyword, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let bound = schema.get(keyword).filter(|bound| bound.is_number());
        match (bound, schema.get(exclusive)) {
            // OpenAPI 3.0 says beside a bound that it is exclusive.
            (Some(bound), Some(Value::Bool(true))) => put(exclusive, bound.clone()),
            (bound, Some(limit @ Value::Number(_))) => {
                if let Some(bound) = bound {
                    put(keyword, bound.clone());
                }
                put(exclusive, limit.clone())
            }
            (Some(bound), _) => put(keyword, bound.clone()),
            _ => None,
        };
    }
    if let Some(step) = schema.get("multipleOf").filter(|step| step.as_f64().is_some_and(|step| step > 0.0)) {
        put("multipleOf", step.clone());
    }
    if let Some(Value::Bool(true)) = schema.get("uniqueItems") {
        put("uniqueItems", true.into());
    }
    if let Some(Value::String(pattern)) = schema.get("pattern")
        && pattern.len() <= PATTERN
        && values.is_none()
        && !is("integer")
    {
        put("pattern", pattern.clone().into());
    }
    if let Some(Value::String(format)) = schema.get("format")
        && FORMATS.contains(&format.as_str())
    {
        put("format", format.clone().into());
    }
    if let Some(Value::Bool(true)) = schema.get("deprecated") {
        put("deprecated", true.into());
    }
    let example = schema.get("example").or_else(|| schema.get("examples")?.as_array()?.first());
    if let Some(example) = example {
        add_example(example, out);
    }
}

/// Adds an example to a converted schema that has none, if it says something.
pub(super) fn add_example(example: &Value, out: &mut Object) {
    let is_clear = ["enum", "format", "examples"].iter().any(|keyword| out.contains_key(*keyword));
    if !is_clear && !example.is_boolean() && fits(example, out.get("type")) {
        out.insert("examples".into(), json!([example]));
    }
}

/// Copies the required names, but those of properties that were left out.
pub(super) fn copy_required(schema: &Object, kept: &Object, out: &mut Object) {
    let Some(Value::Array(required)) = schema.get("required") else { return };
    let all = schema.get("properties").and_then(Value::as_object);
    // Some documents require names that they refuse.
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false)) && all.is_some();
    let is_left_out =
        |name: &str| !kept.contains_key(name) && (is_closed || all.is_some_and(|all| all.contains_key(name)));
    let mut names: Vec<&Value> = Vec::new();
    for name in required {
        let is_usable = name.as_str().is_some_and(|name| is_clean(name) && !is_left_out(name));
        if is_usable && !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.is_empty() {
        out.insert("required".into(), names.into_iter().cloned().collect());
    }
}

/// Allows null where OpenAPI 3.0 says `nullable`.
pub(super) fn add_null(schema: &Object, out: &mut Object) {
    if schema.get("nullable") != Some(&Value::Bool(true)) {
        return;
    }
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match out.get_mut("type") {
        Some(kind @ Value::String(_)) if *kind != "null" => *kind = json!([kind.take(), "null"]),
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => kinds.push("null".into()),
        _ => {}
    }
    if let Some(Value::Array(branches)) = out.get_mut("anyOf")
        && !branches.iter().any(|branch| branch["type"] == "null")
    {
        branches.push(json!({"type": "null"}));
    }
}

/// The values of an `enum`, each once; none if there are too many, or some that cannot be shown.
fn usable_values(values: &[Value]) -> Option<Vec<Value>> {
    let mut out: Vec<Value> = Vec::new();
    for value in values {
        if !out.contains(value) {
            out.push(value.clone());
        }
    }
    let is_usable = |value: &Value| match value {
        Value::String(text) => is_clean(text),
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    };
    (!out.is_empty() && out.len() <= VALUES && out.iter().all(is_usable)).then_some(out)
}

/// Whether an example is a short scalar of the type.
fn fits(value: &Value, kind: Option<&Value>) -> bool {
    let names: Vec<&str> = match kind {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return false,
    };
    let is_of = |kind: &&str| match value {
        Value::String(text) => *kind == "string" && text.len() <= EXAMPLE && is_clean(text),
        Value::Bool(_) => *kind == "boolean",
        Value::Number(number) => *kind == "number" || (*kind == "integer" && !number.is_f64()),
        _ => false,
    };
    names.iter().any(is_of)
}
