//! Signatures: an action and its parameters on one line: `update(id: string, depth?: xs|s|m|l)`.

use std::fmt::Write as _;

use crate::{
    model::shape::{ShapeMember, ValueShape},
    text::show::is_word,
};

/// Characters of a signature, beyond which nested objects are abbreviated.
const LONG: usize = 400;
/// The same for a signature that models read on every turn.
const BRIEF_LONG: usize = 250;
/// Enum values that are listed.
const WORDS: usize = 24;
/// Levels of nested objects that are listed.
const LEVELS: usize = 3;

/// Renders the signature of an action.
pub(crate) fn signature(name: &str, parameters: &ValueShape) -> String {
    signature_with(name, parameters, true)
}

/// Renders a signature for texts that models read on every turn: without the type `string`, which most parameters have,
/// and without what is said of objects of any members.
pub(crate) fn brief(name: &str, parameters: &ValueShape) -> String {
    signature_with(name, parameters, false)
}

fn signature_with(name: &str, parameters: &ValueShape, types_text: bool) -> String {
    let mut out = String::new();
    let long = if types_text { LONG } else { BRIEF_LONG };
    for levels in (1..=LEVELS).rev() {
        out = format!("{name}({})", member_list(parameters, levels, types_text));
        if out.len() <= long {
            break;
        }
    }
    out
}

fn member_list(shape: &ValueShape, levels: usize, types_text: bool) -> String {
    let mut out = String::new();
    if let ValueShape::Record { members, others } = shape {
        for (index, ShapeMember { name, required, shape, .. }) in members.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let mark = if *required { "" } else { "?" };
            let name = if is_identifier(name) { name.clone() } else { format!("{name:?}") };
            let _ = write!(out, "{comma}{name}{mark}");
            if types_text || *shape != ValueShape::Text(None) {
                let _ = write!(out, ": {}", type_text_with(shape, levels - 1, types_text));
            }
        }
        if let Some(others) = others {
            let comma = if members.is_empty() { "" } else { ", " };
            let _ = write!(out, "{comma}[name]: {}", type_text_with(others, levels - 1, types_text));
        }
    }
    out
}

/// Whether a parameter's name needs no quotes.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) && !name.is_empty()
}

/// Renders a type in TypeScript notation.
pub(crate) fn type_text(shape: &ValueShape, levels: usize) -> String {
    type_text_with(shape, levels, true)
}

fn type_text_with(shape: &ValueShape, levels: usize, types_text: bool) -> String {
    let kind = |shape: &ValueShape| type_text_with(shape, levels, types_text);
    match shape {
        ValueShape::Any => "any".into(),
        ValueShape::Boolean => "boolean".into(),
        ValueShape::Number { integer: true, .. } => "integer".into(),
        ValueShape::Number { .. } => "number".into(),
        ValueShape::Text(None) => "string".into(),
        ValueShape::Text(Some(values)) => {
            let mut words: Vec<String> = values
                .iter()
                .take(WORDS)
                .map(|value| if is_word(value) { value.clone() } else { format!("{value:?}") })
                .collect();
            if values.len() > WORDS {
                words.push("…".into());
            }
            words.join("|")
        }
        ValueShape::List(items) => match &**items {
            ValueShape::Any => "any[]".into(),
            ValueShape::Union(_) | ValueShape::Text(Some(_)) => format!("({})[]", kind(items)),
            items => format!("{}[]", kind(items)),
        },
        ValueShape::Record { members: known, others } => match (known.is_empty(), others) {
            (true, None) => "object".into(),
            (true, Some(others)) if !types_text && **others == ValueShape::Any => "object".into(),
            _ if levels == 0 => "object".into(),
            _ => format!("{{{}}}", member_list(shape, levels, types_text)),
        },
        ValueShape::Union(shapes) => shapes.iter().map(kind).collect::<Vec<_>>().join("|"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(properties: Value, required: Value, expected: &str) {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
        assert_eq!(signature("go", &ValueShape::from_schema(&resolved)), expected);
    }

    #[test]
    fn every_type_has_a_signature() {
        check(json!({}), json!([]), "go()");
        check(
            json!({"id": {"type": "string"}, "depth": {"enum": ["xs", "s", "m", "l"]}}),
            json!(["id"]),
            "go(id: string, depth?: xs|s|m|l)",
        );
        check(
            json!({"number": {"type": ["integer", "null"]}, "x": {"type": "number"}, "on": {"type": "boolean"}, "v": true}),
            json!(["v"]),
            "go(number?: integer, x?: number, on?: boolean, v: any)",
        );
        check(
            json!({"tags": {"type": "array", "items": {"type": "string"}}, "all": {"type": "array"},
                "kinds": {"type": "array", "items": {"enum": ["a", "b c"]}}}),
            json!([]),
            "go(tags?: string[], all?: any[], kinds?: (a|\"b c\")[])",
        );
        check(
            json!({"who": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
                "age": {"type": "integer"}}}, "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "bag": {"type": "object"}}),
            json!([]),
            "go(who?: {name: string, age?: integer}, labels?: {[name]: string}, bag?: object)",
        );
        check(
            json!({"at": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
            json!(["at"]),
            "go(at: string|integer)",
        );
    }

    #[test]
    fn brief_signatures_omit_the_type_string() {
        let text = json!({"type": "string"});
        let schema = json!({"type": "object", "required": ["id"], "properties": {
            "id": text, "n": {"type": "integer"}, "state": {"enum": ["on", "off"]},
            "tags": {"type": "array", "items": text}, "who": {"type": "object", "properties": {"name": text}},
            "env": {"type": "object", "additionalProperties": text}, "at": {"anyOf": [text, {"type": "integer"}]}}});
        let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
        assert_eq!(
            brief("go", &ValueShape::from_schema(&resolved)),
            "go(id, n?: integer, state?: on|off, tags?: string[], who?: {name?}, env?: {[name]: string}, \
             at?: string|integer)"
        );
    }

    #[test]
    fn long_signatures_abbreviate_nested_objects() {
        let many: Value = (0..30)
            .map(|i| (format!("parameter_number_{i}"), json!({"type": "string"})))
            .collect::<serde_json::Map<_, _>>()
            .into();
        check(json!({"o": {"type": "object", "properties": many}}), json!([]), "go(o?: object)");
    }

    #[test]
    fn further_members_are_shown_if_allowed() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true});
        assert_eq!(signature("go", &ValueShape::from_schema(&schema)), "go(a?: string, [name]: any)");
    }
}
