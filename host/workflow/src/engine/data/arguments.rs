//! Expansion of a call's arguments, and conversion of texts to the types that the action expects.

use loggia_facade::Object;
use serde_json::Value;

use crate::{
    definition::{ArgumentValue, ToolCall},
    engine::{
        failure::StepError,
        model::StepTarget,
        values::{SchemaCursor, SchemaKind, SizeBudget, coerce, size_budget::ARGUMENTS},
    },
    template::{EvalError, ExpandedText, TemplateScope},
};

/// Maximum nesting depth of data, as in ToolHive: a serialized run must be readable again.
const DEPTH: usize = 100;

/// Expands the parameters of a step's call.
pub(crate) fn expand_parameters(
    step: &str,
    call: &ToolCall,
    target: &StepTarget,
    scope: &TemplateScope<'_>,
    strict: bool,
) -> Result<Object, StepError> {
    let schema = SchemaCursor::new(&target.params);
    let mut room = SizeBudget::new("the arguments are", ARGUMENTS);
    let mut out = Object::new();
    for (name, argument) in &call.arguments {
        if Some(name.as_str()) == target.action_argument.as_deref() {
            continue;
        }
        let value =
            expand_argument(argument, schema.member(name), (scope, strict), &mut room).and_then(|value| {
                let deep = || EvalError {
                    message: format!("template expansion depth limit exceeded: {DEPTH}"),
                    hint: Some("Pass only a part of it.".to_owned()),
                };
                if is_too_deep(&value) { Err(deep()) } else { Ok(value) }
            });
        match value {
            Ok(value) => out.insert(name.clone(), value),
            Err(error) => {
                let what = format!(
                    "failed to expand arguments for step {step}: failed to expand value for key {name:?}"
                );
                return Err(StepError::from_template(&what, error));
            }
        };
    }
    Ok(out)
}

/// Returns true if data nests deeper than a run allows.
pub(crate) fn is_too_deep(value: &Value) -> bool {
    fn deeper(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left == 0 || items.iter().any(|item| deeper(item, left - 1)),
            Value::Object(members) => left == 0 || members.values().any(|member| deeper(member, left - 1)),
            _ => false,
        }
    }
    deeper(value, DEPTH)
}

fn expand_argument(
    argument: &ArgumentValue,
    schema: SchemaCursor<'_>,
    (scope, strict): (&TemplateScope<'_>, bool),
    room: &mut SizeBudget,
) -> Result<Value, EvalError> {
    let seen = (scope, strict);
    match argument {
        ArgumentValue::Literal(value) => room.take(coerce_literal(value, schema)),
        ArgumentValue::Template(template) => {
            room.take(coerce_expanded(template.expand(scope, strict)?, schema.kind(), strict))
        }
        ArgumentValue::List(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| expand_argument(item, schema.item(index), seen, room))
            .collect(),
        ArgumentValue::Record(members) => members
            .iter()
            .map(|(name, member)| {
                Ok((name.clone(), expand_argument(member, schema.member(name), seen, room)?))
            })
            .collect(),
    }
}

/// Converts the texts of a literal to the expected types, at any depth.
fn coerce_literal(value: &Value, schema: SchemaCursor<'_>) -> Value {
    match value {
        Value::String(text) => parse_text(text.clone(), schema.kind().0),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| coerce_literal(item, schema.item(index))).collect()
        }
        Value::Object(members) => {
            let coerced = |(name, member): (&String, &Value)| {
                (name.clone(), coerce_literal(member, schema.member(name)))
            };
            Value::Object(members.iter().map(coerced).collect())
        }
        other => other.clone(),
    }
}

/// Converts an expanded template to the expected type. Keeps the text if that fails: the gate reports the mismatch.
fn coerce_expanded(expanded: ExpandedText, (kind, nullable): (SchemaKind, bool), strict: bool) -> Value {
    let ExpandedText { text, value } = expanded;
    let Some(value) = value else { return parse_text(text, kind) };
    let fits = match (&value, kind) {
        // ToolHive's files rely on text where text is expected.
        (Value::Null, SchemaKind::String) => nullable || strict,
        (Value::Null, _) => true,
        (Value::Object(_), SchemaKind::Object) | (Value::Array(_), SchemaKind::Array) => true,
        (Value::Number(number), SchemaKind::Integer) => number.is_i64() || number.is_u64(),
        (Value::Number(_), SchemaKind::Number) | (Value::Bool(_), SchemaKind::Boolean) => true,
        (Value::Object(_) | Value::Array(_), SchemaKind::Any) => true,
        (_, SchemaKind::Any) => strict,
        _ => false,
    };
    if fits {
        return value;
    }
    match (value, kind) {
        (Value::Object(_) | Value::Array(_), SchemaKind::String) => Value::String(text),
        // Go's text form of a list or object is of no use to the action.
        (value @ (Value::Object(_) | Value::Array(_)), _) => value,
        _ => parse_text(text, kind),
    }
}

/// Parses a text as the expected type; keeps the text if that fails.
fn parse_text(text: String, kind: SchemaKind) -> Value {
    let parsed = |wanted: fn(&Value) -> bool| serde_json::from_str(&text).ok().filter(wanted);
    let value = match kind {
        SchemaKind::Any | SchemaKind::String => None,
        SchemaKind::Integer => coerce::parse_integer(&text),
        SchemaKind::Number => coerce::parse_number(&text),
        SchemaKind::Boolean => coerce::parse_boolean(&text),
        SchemaKind::Object => parsed(Value::is_object),
        SchemaKind::Array => parsed(Value::is_array),
    };
    value.unwrap_or(Value::String(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the value of a lone action in an ordinary file and in a strict one.
    fn check(text: &str, value: Option<Value>, kind: Value, loose: Value, strict: Value) {
        let schema = json!({"properties": {"p": {"type": kind}}});
        let schema = if kind.is_null() { json!({}) } else { schema };
        let kind = SchemaCursor::new(schema.as_object().unwrap()).member("p").kind();
        let expanded = ExpandedText { text: text.to_owned(), value: value.clone() };
        assert_eq!(coerce_expanded(expanded.clone(), kind, false), loose, "{text} {value:?} {kind:?}");
        assert_eq!(coerce_expanded(expanded, kind, true), strict, "strict: {text} {value:?} {kind:?}");
    }

    #[test]
    fn lone_actions_are_converted_to_the_parameter_type() {
        let (list, object) = (json!([1, 2]), json!({"a": 1}));
        for (text, value, kind, loose, strict) in [
            ("7", Some(json!(7)), json!("string"), json!("7"), json!("7")),
            ("7", Some(json!(7)), json!("integer"), json!(7), json!(7)),
            ("1234567", Some(json!(1234567.0)), json!("integer"), json!(1234567), json!(1234567)),
            ("7", Some(json!("7")), json!("number"), json!(7), json!(7)),
            ("7", Some(json!(7)), Value::Null, json!("7"), json!(7)),
            ("7", Some(json!(7)), json!(["string", "integer"]), json!("7"), json!(7)),
            ("x", Some(json!("x")), json!("integer"), json!("x"), json!("x")),
            ("true", Some(json!(true)), json!("boolean"), json!(true), json!(true)),
            ("T", Some(json!("T")), json!("boolean"), json!(true), json!(true)),
            ("[1 2]", Some(list.clone()), json!("array"), list.clone(), list.clone()),
            ("[1 2]", Some(list.clone()), Value::Null, list.clone(), list.clone()),
            ("[1 2]", Some(list.clone()), json!("string"), json!("[1 2]"), json!("[1 2]")),
            ("[1 2]", Some(list.clone()), json!("object"), list.clone(), list.clone()),
            ("[1,2]", Some(json!("[1,2]")), json!("array"), list.clone(), list.clone()),
            ("[1,2]", None, json!("array"), list.clone(), list),
            ("{\"a\":1}", None, json!("object"), object.clone(), object),
            ("{\"a\":1}", None, json!("array"), json!("{\"a\":1}"), json!("{\"a\":1}")),
            ("<no value>", Some(Value::Null), json!("string"), json!("<no value>"), Value::Null),
            ("<no value>", Some(Value::Null), json!(["string", "null"]), Value::Null, Value::Null),
            ("<no value>", Some(Value::Null), json!("integer"), Value::Null, Value::Null),
            ("<no value>", Some(Value::Null), Value::Null, Value::Null, Value::Null),
            ("<no value>", None, json!("integer"), json!("<no value>"), json!("<no value>")),
            ("n 7", None, json!("integer"), json!("n 7"), json!("n 7")),
        ] {
            check(text, value, kind, loose, strict);
        }
    }

    #[test]
    fn data_nests_a_hundred_levels_deep_at_most() {
        let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert!(!is_too_deep(&nested(DEPTH)));
        assert!(is_too_deep(&nested(DEPTH + 1)));
    }
}
