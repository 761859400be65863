//! Resolves an author's schema into the form that the rest of this crate reads.
//!
//! - Every `$ref` is replaced by its target. Recursive and remote references are refused.
//! - Nullable alternatives become a type list, alternatives of constants an `enum`, single alternatives are unwrapped,
//!   so that the variants written by different generators are explained, published and coerced alike.
//! - The root refuses unknown parameters, unless the author allows them.
//!
//! Apart from unknown parameters, the result accepts exactly what the author's schema accepts.

use loggia_facade::Object;
use serde_json::Value;

use crate::{
    model::{
        bounds,
        keywords::{self, SubschemaLayout},
        limits,
        simplify::{overlay, simplify},
    },
    text::show,
};

/// Characters of a place in a problem.
const PLACE: usize = 200;

/// Resolves a parameter schema.
///
/// # Errors
///
/// All problems found, without the action's name.
pub(crate) fn resolve(root: &Object) -> Result<Value, Vec<String>> {
    let mut resolver =
        Resolver { root, open: Vec::new(), path: Vec::new(), subschemas: 0, bytes: 0, problems: Vec::new() };
    let mut out = resolver.object(root, 0);
    if !resolver.problems.is_empty() {
        resolver.problems.dedup();
        return Err(resolver.problems);
    }
    refuse_unknown(&mut out);
    Ok(Value::Object(out))
}

struct Resolver<'a> {
    root: &'a Object,
    /// The references being followed, outermost first.
    open: Vec<&'a str>,
    /// The current place, for messages.
    path: Vec<&'a str>,
    subschemas: usize,
    bytes: usize,
    problems: Vec<String>,
}

impl<'a> Resolver<'a> {
    fn add_problem(&mut self, text: impl std::fmt::Display) {
        if self.problems.len() < 16 {
            // Names are untrusted, and may be long.
            let path: Vec<String> = self.path.iter().map(|name| show::name(name)).collect();
            let place = if path.is_empty() {
                "its root".into()
            } else {
                format!("`{}`", show::cut(&path.join("."), PLACE))
            };
            self.problems.push(format!("at {place}: {text}"));
        }
    }

    fn schema(&mut self, schema: &'a Value, depth: usize) -> Value {
        match schema {
            Value::Object(object) => Value::Object(self.object(object, depth)),
            other => other.clone(),
        }
    }

    fn object(&mut self, schema: &'a Object, depth: usize) -> Object {
        self.subschemas += 1;
        if depth > limits::DEPTH {
            self.add_problem(format_args!("nests deeper than {} levels; flatten it", limits::DEPTH));
            return Object::new();
        }
        if self.subschemas > limits::SUBSCHEMAS || self.bytes > limits::RESOLVED {
            // Reported once; the rest of the schema is skipped.
            if self.subschemas <= limits::SUBSCHEMAS + 1 || self.bytes <= limits::RESOLVED * 2 {
                self.add_problem(format_args!(
                    "the schema grows beyond {} subschemas or {} KiB when its `$ref`s are replaced; make it smaller",
                    limits::SUBSCHEMAS,
                    limits::RESOLVED / 1024
                ));
            }
            self.subschemas = limits::SUBSCHEMAS + 2;
            self.bytes = limits::RESOLVED * 2 + 1;
            return Object::new();
        }
        for text in bounds::check_node(schema) {
            self.add_problem(text);
        }
        let mut out = Object::new();
        let mut target = None;
        for (keyword, value) in schema {
            let value = match (keywords::subschemas(keyword), value) {
                // An anchor is only a name; a `$ref` to it is refused.
                _ if matches!(
                    keyword.as_str(),
                    "$schema" | "$comment" | "$defs" | "definitions" | "$anchor"
                ) =>
                {
                    continue;
                }
                _ if keyword == "$id" => {
                    if !std::ptr::eq(schema, self.root) {
                        self.add_problem("`$id` inside a schema is not supported; take it out");
                    }
                    continue;
                }
                _ if keyword == "$ref" => {
                    target = self.reference(value, depth);
                    continue;
                }
                (Some(SubschemaLayout::One), value) => self.schema(value, depth + 1),
                (Some(SubschemaLayout::Map), Value::Object(map)) => Value::Object(
                    map.iter()
                        .map(|(name, value)| {
                            self.path.push(name);
                            let value = self.schema(value, depth + 1);
                            self.path.pop();
                            (name.clone(), value)
                        })
                        .collect(),
                ),
                (Some(SubschemaLayout::List), Value::Array(list)) => {
                    Value::Array(list.iter().map(|value| self.schema(value, depth + 1)).collect())
                }
                (_, value) => value.clone(),
            };
            out.insert(keyword.clone(), value);
        }
        if let Some(target) = target {
            out = combine(out, target);
        }
        simplify(out)
    }

    /// Resolves the target of a `$ref`.
    fn reference(&mut self, reference: &'a Value, depth: usize) -> Option<Value> {
        let Some(reference) = reference.as_str() else {
            self.add_problem("`$ref` must be a string");
            return None;
        };
        let Some(target) = reference.strip_prefix("#/").and_then(|_| self.find(&reference[1..])) else {
            self.add_problem(format_args!(
                "`$ref` \"{}\" is not defined in this schema; only `#/$defs/…` of the same schema can be used",
                show::name(reference)
            ));
            return None;
        };
        if self.open.contains(&reference) || reference == "#" {
            self.add_problem(format_args!(
                "`$ref` \"{}\" leads back to itself; clients cannot read recursive schemas, so take an `object` \
                 without `properties`, or ids instead of nested values",
                show::name(reference)
            ));
            return None;
        }
        self.bytes += serde_json::to_string(target).map_or(0, |text| text.len());
        self.open.push(reference);
        // References do not count as nesting; the number of open ones has its own limit.
        let out = if self.open.len() > limits::DEPTH * 2 {
            self.add_problem("a `$ref` leads through too many other `$ref`s; flatten it");
            Value::Bool(true)
        } else {
            self.schema(target, depth)
        };
        self.open.pop();
        Some(out)
    }

    /// Finds the target of a JSON pointer.
    fn find(&self, pointer: &str) -> Option<&'a Value> {
        let mut tokens = pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"));
        let first = self.root.get(&tokens.next()?)?;
        tokens.try_fold(first, |value, token| match value {
            Value::Object(object) => object.get(&token),
            Value::Array(list) => list.get(token.parse::<usize>().ok()?),
            _ => None,
        })
    }
}

/// Combines the siblings of a `$ref` with its target. Annotations are merged into the target; constraints keep it in
/// an `allOf`.
fn combine(out: Object, target: Value) -> Object {
    match target {
        Value::Object(target) if out.keys().all(|key| keywords::is_annotation(key)) => overlay(target, out),
        target => {
            let mut out = out;
            match out.get_mut("allOf").and_then(Value::as_array_mut) {
                Some(list) => list.push(target),
                None => {
                    out.insert("allOf".into(), Value::Array(vec![target]));
                }
            }
            out
        }
    }
}

/// Refuses parameters that the schema does not define, unless its author allows them.
fn refuse_unknown(root: &mut Object) {
    if root.contains_key("additionalProperties") || root.contains_key("unevaluatedProperties") {
        return;
    }
    let elsewhere = ["allOf", "anyOf", "oneOf", "if", "dependentSchemas"];
    let keyword = if elsewhere.iter().any(|key| root.contains_key(*key)) {
        "unevaluatedProperties"
    } else {
        "additionalProperties"
    };
    root.insert(keyword.into(), Value::Bool(false));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, expected: Result<Value, &[&str]>) {
        let resolved = resolve(schema.as_object().unwrap());
        match expected {
            Ok(expected) => assert_eq!(resolved, Ok(expected)),
            Err(parts) => {
                let problems = resolved.unwrap_err().join("\n");
                for part in parts {
                    assert!(problems.contains(part), "{part:?} is not in {problems:?}");
                }
            }
        }
    }

    /// Resolves one property.
    fn check_property(schema: Value, expected: Value) {
        check(
            json!({"type": "object", "properties": {"p": schema}, "$defs": {
                "Depth": {"description": "How deep.", "enum": ["s", "l"], "type": "string"},
                "Deep": {"type": "object", "properties": {"d": {"$ref": "#/$defs/Depth"}}}}}),
            Ok(json!({"type": "object", "properties": {"p": expected}, "additionalProperties": false})),
        );
    }

    #[test]
    fn references_are_replaced_by_their_targets() {
        for (schema, expected) in [
            (
                json!({"$ref": "#/$defs/Depth"}),
                json!({"description": "How deep.", "enum": ["s", "l"], "type": "string"}),
            ),
            (
                json!({"$ref": "#/$defs/Depth", "description": "Nearer.", "default": "s"}),
                json!({"description": "Nearer.", "enum": ["s", "l"], "type": "string", "default": "s"}),
            ),
            (json!({"$anchor": "here", "type": "string"}), json!({"type": "string"})),
            (
                json!({"$ref": "#/$defs/Depth", "minLength": 1}),
                json!({"minLength": 1,
                    "allOf": [{"description": "How deep.", "enum": ["s", "l"], "type": "string"}]}),
            ),
            (
                json!({"type": "array", "items": {"$ref": "#/$defs/Deep"}}),
                json!({"type": "array", "items": {"type": "object", "properties":
                    {"d": {"description": "How deep.", "enum": ["s", "l"], "type": "string"}}}}),
            ),
        ] {
            check_property(schema, expected);
        }
    }

    #[test]
    fn unknown_parameters_are_refused_unless_allowed() {
        for (schema, keyword, expected) in [
            (json!({"type": "object"}), "additionalProperties", json!(false)),
            (json!({"additionalProperties": true}), "additionalProperties", json!(true)),
            (
                json!({"additionalProperties": {"type": "string"}}),
                "additionalProperties",
                json!({"type": "string"}),
            ),
            (
                json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                "unevaluatedProperties",
                json!(false),
            ),
            (json!({"unevaluatedProperties": true}), "additionalProperties", json!(null)),
        ] {
            let resolved = resolve(schema.as_object().unwrap()).unwrap();
            assert_eq!(resolved.get(keyword).cloned().unwrap_or_default(), expected, "{schema}");
        }
    }

    /// H42.
    #[test]
    fn dangling_and_recursive_references_are_refused() {
        let refer = |reference: &str| {
            json!({"type": "object", "properties": {"p": {"$ref": reference}},
                "$defs": {"Tree": {"properties": {"kids": {"items": {"$ref": "#/$defs/Tree"}}}}}})
        };
        check(refer("#/$defs/Tree"), Err(&["at `p.kids`", "leads back to itself"]));
        check(refer("#/$defs/None"), Err(&["at `p`", "is not defined in this schema"]));
        check(refer("https://example.com/a.json"), Err(&["is not defined in this schema"]));
        check(refer("file:///etc/passwd"), Err(&["is not defined"]));
        check(refer("#"), Err(&["is not defined"]));
        // An anchor is accepted, but cannot be referred to.
        check(json!({"properties": {"p": {"$ref": "#d"}, "q": {"$anchor": "d"}}}), Err(&["is not defined"]));
        check(refer("#/properties/p"), Err(&["leads back to itself"]));
    }

    /// H42.
    #[test]
    fn places_are_sanitised_and_shortened() {
        let long = "x".repeat(10_000);
        let deep =
            json!({"properties": {"a\u{1b}[1m\u{200b}": {"properties": {long: {"$dynamicAnchor": "x"}}}}});
        let problems = resolve(deep.as_object().unwrap()).unwrap_err();
        let [name, place] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(name.starts_with("at its root: the value \"a\\u001b[1m\" holds control"), "{name:?}");
        assert!(place.starts_with("at `a.xxx") && place.len() < 400, "{place:?}");
    }

    #[test]
    fn exponential_definitions_are_refused() {
        let mut defs = Object::new();
        for level in 0..12 {
            let next = format!("#/$defs/d{}", level + 1);
            defs.insert(format!("d{level}"), json!({"anyOf": [{"$ref": &next}, {"$ref": next}]}));
        }
        defs.insert("d12".into(), json!({"type": "string"}));
        check(
            json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": defs}),
            Err(&["grows beyond"]),
        );
    }
}
