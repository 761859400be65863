//! An action and its parameters in one line: `update(id: string, depth?: xs|s|m|l)`.

use std::fmt::Write as _;

use crate::{
    model::shape::{Member, Shape},
    text::show::is_word,
};

/// Characters beyond which nested objects are not spelled out.
const LONG: usize = 400;
/// Words of an enum that are spelled out.
const WORDS: usize = 24;
/// Levels of nested objects that are spelled out.
const LEVELS: usize = 3;

/// The signature of an action with these parameters.
pub(crate) fn signature(name: &str, parameters: &Shape) -> String {
    signed(name, parameters, true)
}

/// The same where it is read on every turn: what is any text has no type. Most parameters are.
pub(crate) fn brief(name: &str, parameters: &Shape) -> String {
    signed(name, parameters, false)
}

fn signed(name: &str, parameters: &Shape, types_text: bool) -> String {
    let mut out = String::new();
    for levels in (1..=LEVELS).rev() {
        out = format!("{name}({})", members(parameters, levels, types_text));
        if out.len() <= LONG {
            break;
        }
    }
    out
}

fn members(shape: &Shape, levels: usize, types_text: bool) -> String {
    let mut out = String::new();
    if let Shape::Record { members, others } = shape {
        for (index, Member { name, required, shape, .. }) in members.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let mark = if *required { "" } else { "?" };
            let name = if is_identifier(name) { name.clone() } else { format!("{name:?}") };
            let _ = write!(out, "{comma}{name}{mark}");
            if types_text || *shape != Shape::Text(None) {
                let _ = write!(out, ": {}", typed(shape, levels - 1, types_text));
            }
        }
        if let Some(others) = others {
            let comma = if members.is_empty() { "" } else { ", " };
            let _ = write!(out, "{comma}[name]: {}", typed(others, levels - 1, types_text));
        }
    }
    out
}

/// Whether a parameter's name can stand bare.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) && !name.is_empty()
}

/// The kind of a value, as TypeScript would write it.
pub(crate) fn kind(shape: &Shape, levels: usize) -> String {
    typed(shape, levels, true)
}

fn typed(shape: &Shape, levels: usize, types_text: bool) -> String {
    let kind = |shape: &Shape| typed(shape, levels, types_text);
    match shape {
        Shape::Any => "any".into(),
        Shape::Boolean => "boolean".into(),
        Shape::Number { integer: true, .. } => "integer".into(),
        Shape::Number { .. } => "number".into(),
        Shape::Text(None) => "string".into(),
        Shape::Text(Some(values)) => {
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
        Shape::List(items) => match &**items {
            Shape::Any => "any[]".into(),
            Shape::Union(_) | Shape::Text(Some(_)) => format!("({})[]", kind(items)),
            items => format!("{}[]", kind(items)),
        },
        Shape::Record { members: known, others } => match (known.is_empty(), others) {
            (true, None) => "object".into(),
            _ if levels == 0 => "object".into(),
            _ => format!("{{{}}}", members(shape, levels, types_text)),
        },
        Shape::Union(shapes) => shapes.iter().map(kind).collect::<Vec<_>>().join("|"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(properties: Value, required: Value, expected: &str) {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
        assert_eq!(signature("go", &Shape::of(&resolved)), expected);
    }

    #[test]
    fn every_kind_of_parameter_has_a_short_form() {
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
    fn in_short_only_what_is_any_text_has_no_type() {
        let text = json!({"type": "string"});
        let schema = json!({"type": "object", "required": ["id"], "properties": {
            "id": text, "n": {"type": "integer"}, "state": {"enum": ["on", "off"]},
            "tags": {"type": "array", "items": text}, "who": {"type": "object", "properties": {"name": text}},
            "env": {"type": "object", "additionalProperties": text}, "at": {"anyOf": [text, {"type": "integer"}]}}});
        let resolved = crate::model::resolve::resolve(schema.as_object().unwrap()).unwrap();
        assert_eq!(
            brief("go", &Shape::of(&resolved)),
            "go(id, n?: integer, state?: on|off, tags?: string[], who?: {name?}, env?: {[name]: string}, \
             at?: string|integer)"
        );
    }

    #[test]
    fn a_long_signature_does_not_spell_out_nested_objects() {
        let many: Value = (0..30)
            .map(|i| (format!("parameter_number_{i}"), json!({"type": "string"})))
            .collect::<serde_json::Map<_, _>>()
            .into();
        check(json!({"o": {"type": "object", "properties": many}}), json!([]), "go(o?: object)");
    }

    #[test]
    fn other_members_are_shown_where_they_are_allowed() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true});
        assert_eq!(signature("go", &Shape::of(&schema)), "go(a?: string, [name]: any)");
    }
}
