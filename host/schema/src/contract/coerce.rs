//! Fixes harmless slips of models, if the schema leaves no doubt about the intended value.
//!
//! - A number or a boolean sent as a string: `"5"`, `"true"`.
//! - An array or an object sent as JSON text.
//! - `null` for an optional parameter that does not accept null: treated as absent.
//! - An `enum` value in another case.
//!
//! A number is never converted to a string: the id `007` is not `7`. Only values that their schema refuses are
//! changed.

use loggia_facade::{Object, json};
use serde_json::{Number, Value};

use crate::{
    contract::defaults::to_integer,
    model::{
        keywords::{self, allowed_values},
        limits, nesting,
    },
};

/// A set of JSON types, as bits.
type Kinds = u8;
const NULL: Kinds = 1;
const BOOLEAN: Kinds = 2;
const INTEGER: Kinds = 4;
const FRACTION: Kinds = 8;
const TEXT: Kinds = 16;
const LIST: Kinds = 32;
const RECORD: Kinds = 64;
const ALL: Kinds = 127;

/// Coerces the members of an object. Calls `changed` with the name of each changed member.
pub(crate) fn coerce_members(schema: &Object, object: &mut Object, changed: &mut impl FnMut(&str)) {
    for part in applicable_schemas(schema, &*object) {
        coerce_own_members(part, object, changed);
    }
}

fn coerce_own_members(schema: &Object, object: &mut Object, changed: &mut impl FnMut(&str)) {
    let named = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties").filter(|_| !schema.contains_key("patternProperties"));
    let mut absent = Vec::new();
    for (name, value) in object.iter_mut() {
        let named_schema = named.and_then(|named| named.get(name));
        let Some(member_schema) = named_schema.or(others) else { continue };
        let optional = named_schema.is_some() && !keywords::lists_name(schema, "required", name);
        if value.is_null() && optional && kinds(member_schema) & NULL == 0 {
            absent.push(name.clone());
        } else if coerce_value(member_schema, value) {
            changed(name);
        }
    }
    for name in absent {
        object.shift_remove(&name);
        changed(&name);
    }
}

/// Coerces a value. Returns whether it changed.
fn coerce_value(schema: &Value, value: &mut Value) -> bool {
    let Value::Object(schema) = schema else { return false };
    let mut changed = false;
    if let Value::String(text) = value
        && let Some(parsed) = parse_text(schema, text)
    {
        *value = parsed;
        changed = true;
    }
    match value {
        Value::Object(object) => coerce_members(schema, object, &mut |_| changed = true),
        Value::Array(items) => {
            let no_items = Object::new();
            for part in applicable_schemas(schema, &no_items) {
                let first = part.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let rest = part.get("items");
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = first.get(index).or(rest) {
                        changed |= coerce_value(schema, item);
                    }
                }
            }
        }
        _ => {}
    }
    changed
}

/// Converts a string to the type that the schema expects.
fn parse_text(schema: &Object, text: &str) -> Option<Value> {
    let wanted = kinds_of(schema);
    if wanted & TEXT != 0 {
        return other_case(schema, text);
    }
    let text = text.trim();
    if wanted & BOOLEAN != 0 {
        for (word, value) in [("true", true), ("false", false)] {
            if text.eq_ignore_ascii_case(word) {
                return Some(Value::Bool(value));
            }
        }
    }
    if wanted & (INTEGER | FRACTION) != 0
        && let Ok(number) = serde_json::from_str::<Number>(text)
    {
        return match number {
            number if wanted & FRACTION != 0 || !number.is_f64() => Some(Value::Number(number)),
            number => to_integer(&number).map(Value::Number),
        };
    }
    let begins = |with: char| text.starts_with(with);
    if (wanted & LIST != 0 && begins('[')) || (wanted & RECORD != 0 && begins('{')) {
        let parsed = json::parse(text).ok()?;
        return (nesting::nesting(std::iter::once(&parsed)) <= limits::NESTING).then_some(parsed);
    }
    None
}

/// The one allowed string that differs only in case.
fn other_case(schema: &Object, text: &str) -> Option<Value> {
    let mut allowed = Vec::new();
    if !words(schema, &mut allowed) || allowed.contains(&text) {
        return None;
    }
    let folded = text.to_lowercase();
    let mut alike = allowed.into_iter().filter(|word| word.to_lowercase() == folded);
    match (alike.next(), alike.next()) {
        (Some(only), None) => Some(only.into()),
        _ => None,
    }
}

/// Collects the strings that a schema allows; false if it allows any string.
fn words<'a>(schema: &'a Object, out: &mut Vec<&'a str>) -> bool {
    if let Some(values) = allowed_values(schema) {
        out.extend(values.iter().filter_map(Value::as_str));
        return true;
    }
    let mut listed = false;
    for part in keywords::conjuncts(schema) {
        listed |= words(part, out);
    }
    for branches in keywords::alternatives(schema) {
        listed |= branches.iter().filter(|branch| kinds(branch) & TEXT != 0).all(|branch| match branch {
            Value::Object(branch) => words(branch, out),
            _ => false,
        });
    }
    listed
}

/// The schemas that apply to an object: itself, its `allOf`, and the chosen alternative.
fn applicable_schemas<'a>(schema: &'a Object, object: &Object) -> Vec<&'a Object> {
    let mut out = vec![schema];
    for part in keywords::conjuncts(schema) {
        out.extend(applicable_schemas(part, object));
    }
    for branches in keywords::alternatives(schema) {
        if let Some(branch) = chosen(branches, object) {
            out.extend(applicable_schemas(branch, object));
        }
    }
    out
}

/// The only alternative that matches an object's constants.
fn chosen<'a>(branches: &'a [Value], object: &Object) -> Option<&'a Object> {
    let mut possible =
        branches.iter().filter(|b| kinds(b) & (RECORD | LIST) != 0).filter_map(Value::as_object).filter(
            |branch| {
                let properties = branch.get("properties").and_then(Value::as_object);
                properties.into_iter().flatten().all(|(name, schema)| {
                    match (object.get(name), schema.as_object().and_then(allowed_values)) {
                        (Some(value), Some(allowed)) => allowed.contains(value),
                        _ => true,
                    }
                })
            },
        );
    match (possible.next(), possible.next()) {
        (only, None) => only,
        _ => None,
    }
}

/// The types that a schema can accept.
fn kinds(schema: &Value) -> Kinds {
    match schema {
        Value::Object(schema) => kinds_of(schema),
        Value::Bool(false) => 0,
        _ => ALL,
    }
}

fn kinds_of(schema: &Object) -> Kinds {
    let mut out = ALL;
    match schema.get("type") {
        Some(Value::String(kind)) => out &= kind_named(kind),
        Some(Value::Array(list)) => {
            out &= list.iter().filter_map(Value::as_str).map(kind_named).fold(0, |all, kind| all | kind);
        }
        _ => {}
    }
    if let Some(values) = allowed_values(schema) {
        out &= values.iter().map(kind_of).fold(0, |all, kind| all | kind);
    }
    for part in keywords::conjuncts(schema) {
        out &= kinds_of(part);
    }
    for branches in keywords::alternatives(schema) {
        out &= branches.iter().map(kinds).fold(0, |all, kind| all | kind);
    }
    out
}

fn kind_named(name: &str) -> Kinds {
    match name {
        "null" => NULL,
        "boolean" => BOOLEAN,
        "integer" => INTEGER,
        "number" => INTEGER | FRACTION,
        "string" => TEXT,
        "array" => LIST,
        "object" => RECORD,
        _ => 0,
    }
}

fn kind_of(value: &Value) -> Kinds {
    match value {
        Value::Null => NULL,
        Value::Bool(_) => BOOLEAN,
        Value::Number(number) if number.is_f64() => INTEGER | FRACTION,
        Value::Number(_) => INTEGER,
        Value::String(_) => TEXT,
        Value::Array(_) => LIST,
        Value::Object(_) => RECORD,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Coerces the parameter `p` of a resolved schema; `None` if it stays unchanged.
    fn check(schema: Value, sent: Value, expected: Option<Value>) {
        let root = json!({"type": "object", "properties": {"p": schema}});
        let resolved = crate::model::resolve::resolve(root.as_object().unwrap()).unwrap();
        let mut object = json!({"p": sent}).as_object().unwrap().clone();
        let before = object.clone();
        let mut changed = Vec::new();
        coerce_members(resolved.as_object().unwrap(), &mut object, &mut |name| changed.push(name.to_owned()));
        match expected {
            Some(expected) => {
                assert_eq!(object.get("p").unwrap_or(&json!("absent")), &expected, "{schema} of {sent}");
                assert_eq!(changed, ["p"]);
            }
            None => {
                assert_eq!(object, before, "{schema} of {sent}");
                assert!(changed.is_empty());
            }
        }
    }

    #[test]
    fn strings_are_converted_to_the_expected_type() {
        let integer = json!({"type": "integer"});
        let number = json!({"type": "number"});
        let boolean = json!({"type": ["boolean", "null"]});
        for (schema, sent, expected) in [
            (&integer, "5", Some(json!(5))),
            (&integer, " -7 ", Some(json!(-7))),
            (&integer, "5.0", Some(json!(5))),
            (&integer, "5.5", None),
            (&integer, "007", None),
            (&integer, "5 apples", None),
            (&integer, "", None),
            (&integer, "1e400", None),
            (&integer, "18446744073709551615", Some(json!(u64::MAX))),
            (&number, "1.5", Some(json!(1.5))),
            (&number, "1e3", Some(json!(1000.0))),
            (&number, "NaN", None),
            (&boolean, "true", Some(json!(true))),
            (&boolean, "False", Some(json!(false))),
            (&boolean, "yes", None),
            (&boolean, "1", None),
        ] {
            check(schema.clone(), json!(sent), expected);
        }
    }

    #[test]
    fn json_texts_are_parsed_and_coerced_inside() {
        let list = json!({"type": "array", "items": {"type": "integer"}});
        let object =
            json!({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}});
        let maybe = json!({"anyOf": [object, {"type": "null"}]});
        check(list.clone(), json!("[1, \"2\"]"), Some(json!([1, 2])));
        check(list.clone(), json!(["3"]), Some(json!([3])));
        check(list.clone(), json!("1, 2"), None);
        check(list.clone(), json!("[1"), None);
        check(list, json!(format!("{}{}", "[".repeat(100), "]".repeat(100))), None);
        check(object.clone(), json!(r#"{"n": "1"}"#), Some(json!({"n": 1})));
        check(maybe, json!({"n": "1", "s": null}), Some(json!({"n": 1})));
        check(
            json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
            json!({"x": "true"}),
            Some(json!({"x": true})),
        );
        check(json!({"type": "string"}), json!("[1]"), None);
    }

    #[test]
    fn the_chosen_alternative_is_coerced() {
        let tagged = json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "integer"}}},
            {"type": "object", "properties": {"kind": {"const": "text"}, "r": {"type": "string"}}}]});
        check(tagged.clone(), json!({"kind": "circle", "r": "5"}), Some(json!({"kind": "circle", "r": 5})));
        check(tagged, json!({"kind": "text", "r": "5"}), None);
    }

    #[test]
    fn numbers_stay_numbers_and_allowed_strings_stay() {
        check(json!({"type": "string"}), json!(7), None);
        check(json!({"type": ["string", "integer"]}), json!("7"), None);
        check(json!({"anyOf": [{"enum": ["A"]}, {"type": "string", "pattern": "x"}]}), json!("a"), None);
        check(json!(true), json!("7"), None);
    }

    #[test]
    fn enum_values_match_in_another_case_if_unambiguous() {
        let depth = json!({"enum": ["XS", "s", "S+", "Ä"]});
        check(depth.clone(), json!("xs"), Some(json!("XS")));
        check(depth.clone(), json!("ä"), Some(json!("Ä")));
        check(depth.clone(), json!("m"), None);
        check(json!({"enum": ["a", "A"]}), json!("A"), None);
        check(json!({"enum": ["aB", "Ab"]}), json!("ab"), None);
        check(json!({"type": "array", "items": {"enum": ["Red"]}}), json!(["red"]), Some(json!(["Red"])));
    }

    #[test]
    fn null_means_absent_for_optional_parameters() {
        check(json!({"type": "string"}), json!(null), Some(json!("absent")));
        check(json!({"type": ["string", "null"]}), json!(null), None);
        check(json!({"enum": ["a"]}), json!(null), Some(json!("absent")));
        check(json!(true), json!(null), None);
    }
}
