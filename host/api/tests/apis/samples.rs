//! Example calls, generated from the schemas of actions.

use loggia_facade::{Action, Object};
use serde_json::{Value, json};

/// Parameters of a call: the required ones, or all of them.
pub fn params(action: &Action, is_full: bool) -> Object {
    let Value::Object(mut params) = sample(&Value::Object((*action.params).clone()), is_full, 0) else {
        return Object::new();
    };
    // A cursor comes from a response.
    params.shift_remove("cursor");
    params
}

/// A value of a schema.
fn sample(schema: &Value, is_full: bool, depth: usize) -> Value {
    let Value::Object(schema) = schema else { return json!("any") };
    if let Some(example) = schema.get("examples").and_then(|examples| examples.get(0)) {
        return example.clone();
    }
    if let Some(value) =
        schema.get("enum").and_then(Value::as_array).and_then(|v| v.iter().find(|v| !v.is_null()))
    {
        return value.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|k| *k != "null").unwrap_or("null")
        }
        _ if schema.contains_key("properties") => "object",
        _ => "",
    };
    if kind.is_empty() {
        for keyword in ["anyOf", "oneOf", "allOf"] {
            if let Some(first) = schema.get(keyword).and_then(|list| list.get(0)) {
                return sample(first, is_full, depth);
            }
        }
        return json!("any");
    }
    match kind {
        "object" => Value::Object(object(schema, is_full, depth)),
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).max(1);
            let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(1);
            let item = sample(schema.get("items").unwrap_or(&Value::Null), is_full, depth + 1);
            (0..least.min(most.max(least))).map(|_| item.clone()).collect()
        }
        "integer" | "number" => number(schema),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => text(schema),
    }
}

fn object(schema: &Object, is_full: bool, depth: usize) -> Object {
    let mut out = Object::new();
    let none = Object::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let branches = ["anyOf", "oneOf"].iter().filter_map(|keyword| schema.get(*keyword)?.get(0)?.as_object());
    let mut owners: Vec<&Object> = vec![schema];
    owners.extend(branches);
    let mut names: Vec<&str> = owners.iter().flat_map(|owner| required(owner)).collect();
    // "One of these" may not be all of them.
    if is_full && depth < 3 && owners.len() == 1 {
        names.extend(properties.keys().map(String::as_str));
    }
    for name in names {
        let schema = owners.iter().find_map(|owner| owner.get("properties")?.get(name));
        if !out.contains_key(name) {
            out.insert(
                name.to_owned(),
                schema.map_or_else(|| json!("any"), |s| sample(s, is_full, depth + 1)),
            );
        }
    }
    out
}

fn required(schema: &Object) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn number(schema: &Object) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let value = match (bound("minimum"), bound("exclusiveMinimum"), bound("maximum")) {
        (Some(least), ..) => least,
        (_, Some(more), _) => more + 1.0,
        (_, _, Some(most)) if most < 1.0 => most,
        _ => bound("multipleOf").unwrap_or(1.0),
    };
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

fn text(schema: &Object) -> Value {
    let word = |key: &str| schema.get(key).and_then(Value::as_str);
    let length = |key: &str| schema.get(key).and_then(Value::as_u64).map(|n| n as usize);
    let format = match word("format") {
        Some("date") => Some("2026-01-31"),
        Some("date-time") => Some("2026-01-31T09:00:00Z"),
        Some("uuid") => Some("123e4567-e89b-12d3-a456-426614174000"),
        Some("email") => Some("ada@example.com"),
        Some("uri") => Some("https://example.com/a?b=c&d=%20"),
        Some("ipv4") => Some("192.0.2.1"),
        Some("ipv6") => Some("2001:db8::1"),
        Some("binary" | "byte") => Some("aGk="),
        _ => None,
    };
    if let Some(format) = format {
        return format.into();
    }
    // Characters that a request has to encode, unless a pattern refuses them.
    let beginning = if schema.contains_key("pattern") { "text" } else { "a b/c?d&e=ä" };
    let mut out: String = beginning.chars().take(length("maxLength").unwrap_or(usize::MAX)).collect();
    while out.chars().count() < length("minLength").unwrap_or(0) {
        out.push('x');
    }
    out.into()
}
