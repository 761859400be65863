//! Rewrites schemas into shorter equivalent ones, so that the variants written by different generators are explained,
//! published and coerced alike.

use loggia_facade::Object;
use serde_json::Value;

use crate::model::keywords;

/// Unwraps and merges alternatives without changing the accepted values.
pub(crate) fn simplify(mut schema: Object) -> Object {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(list)) = schema.get(keyword) else { continue };
        if schema.keys().any(|key| key != keyword && !keywords::is_annotation(key)) {
            continue;
        }
        let simpler = match list.as_slice() {
            [Value::Object(only)] => Some(only.clone()),
            _ if keyword == "allOf" => None,
            branches => merge_nullable(branches).or_else(|| merge_constants(branches)),
        };
        if let Some(simpler) = simpler {
            schema.shift_remove(keyword);
            return overlay(simpler, schema);
        }
    }
    schema
}

/// Merges alternatives of constants into one `enum`. The author's texts about them are kept under [`VALUE_TEXTS`].
fn merge_constants(branches: &[Value]) -> Option<Object> {
    let mut values: Vec<Value> = Vec::new();
    let mut texts = Object::new();
    for branch in branches {
        let branch = branch.as_object()?;
        let plain = |key: &str| matches!(key, "const" | "enum" | "type") || keywords::is_annotation(key);
        if !branch.keys().all(|key| plain(key)) {
            return None;
        }
        let of_branch: Vec<Value> = match (branch.get("const"), branch.get("enum"), branch.get("type")) {
            (Some(value), None, _) => vec![value.clone()],
            (None, Some(Value::Array(list)), _) => list.clone(),
            (None, None, Some(Value::String(kind))) if kind == "null" => vec![Value::Null],
            _ => return None,
        };
        for value in of_branch {
            // A repeated value is valid under `anyOf`, but not under `oneOf`.
            let again = values.iter().any(|known| is_same_number(known, &value));
            if value.is_array() || value.is_object() || again || !matches_type(branch, &value) {
                return None;
            }
            if let (Value::String(value), Some(text), None) =
                (&value, branch.get("description"), branch.get("enum"))
            {
                texts.insert(value.clone(), text.clone());
            }
            values.push(value);
        }
    }
    let mut out = Object::new();
    if values.iter().all(Value::is_string) {
        out.insert("type".into(), "string".into());
    }
    out.insert("enum".into(), Value::Array(values));
    if !texts.is_empty() {
        out.insert(VALUE_TEXTS.into(), Value::Object(texts));
    }
    Some(out)
}

/// Whether JSON Schema considers two scalars equal: `1` and `1.0` are.
fn is_same_number(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Annotation that holds the author's text for each value of an `enum`.
pub(crate) const VALUE_TEXTS: &str = "x-values";

/// Whether a constant agrees with the `type` beside it.
fn matches_type(schema: &Object, value: &Value) -> bool {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match schema.get("type") {
        None => true,
        Some(Value::String(kind)) => kind == name || (kind == "number" && name == "integer"),
        Some(_) => false,
    }
}

/// Merges a schema and null into that schema with `null` among its types.
fn merge_nullable(branches: &[Value]) -> Option<Object> {
    let is_null = |branch: &Value| {
        branch.as_object().is_some_and(|b| {
            b.get("type").is_some_and(|kind| kind == "null")
                && b.keys().all(|key| key == "type" || keywords::is_annotation(key))
        })
    };
    let other = match branches {
        [other, null] | [null, other] if is_null(null) => other,
        _ => return None,
    };
    let mut out = other.as_object()?.clone();
    // These keywords apply to null as well; the others apply to one type each.
    if ["const", "anyOf", "oneOf", "allOf", "not", "if"].iter().any(|key| out.contains_key(*key)) {
        return None;
    }
    let kind = out.get_mut("type")?;
    let mut kinds = match kind.take() {
        Value::String(kind) => vec![Value::String(kind)],
        Value::Array(kinds) => kinds,
        _ => return None,
    };
    if kinds.iter().any(|kind| kind == "null") {
        return None;
    }
    kinds.push("null".into());
    *kind = Value::Array(kinds);
    if let Some(Value::Array(values)) = out.get_mut("enum") {
        values.push(Value::Null);
    }
    Some(out)
}

/// Copies the keywords of `upper` over those of `lower`.
pub(crate) fn overlay(mut lower: Object, upper: Object) -> Object {
    lower.extend(upper);
    lower
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, expected: Value) {
        let root = json!({"type": "object", "properties": {"p": schema}, "$defs": {
            "Depth": {"description": "How deep.", "enum": ["s", "l"], "type": "string"},
            "Deep": {"type": "object", "properties": {"d": {"$ref": "#/$defs/Depth"}}}}});
        let resolved = crate::model::resolve::resolve(root.as_object().unwrap()).unwrap();
        assert_eq!(resolved["properties"]["p"], expected);
    }

    #[test]
    fn equivalent_schemas_are_simplified_alike() {
        for (schema, expected) in [
            (
                json!({"anyOf": [{"$ref": "#/$defs/Depth"}, {"type": "null"}], "description": "Maybe."}),
                json!({"type": ["string", "null"], "description": "Maybe.", "enum": ["s", "l", null]}),
            ),
            (
                json!({"anyOf": [{"$ref": "#/$defs/Deep"}, {"type": "null"}]}),
                json!({"type": ["object", "null"], "properties":
                    {"d": {"description": "How deep.", "enum": ["s", "l"], "type": "string"}}}),
            ),
            (
                json!({"oneOf": [{"const": "a", "type": "string", "description": "First."}, {"enum": ["b"], "type": "string"}]}),
                json!({"type": "string", "enum": ["a", "b"], "x-values": {"a": "First."}}),
            ),
            (json!({"allOf": [{"type": "string"}], "title": "T"}), json!({"type": "string", "title": "T"})),
        ] {
            check(schema, expected);
        }
    }

    #[test]
    fn simplification_keeps_the_meaning() {
        for schema in [
            json!({"oneOf": [{"const": "a"}, {"const": "a"}]}),
            json!({"oneOf": [{"const": 1}, {"const": 1.0}]}),
            json!({"oneOf": [{"const": 1, "type": "string"}, {"const": 2}]}),
            json!({"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]}),
            json!({"anyOf": [{"const": "a"}, {"type": "string"}]}),
            json!({"anyOf": [{"not": {"const": 1}, "type": "integer"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string"}], "minLength": 2}),
        ] {
            check(schema.clone(), schema);
        }
    }
}
