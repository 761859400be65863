//! Input schemas without `$ref`s, in JSON Schema 2020-12.
//!
//! The contract resolves references itself, but refuses recursive and remote ones, and with them the whole facade. Here such
//! a reference becomes a schema that accepts more: the upstream still checks its arguments.

use loggia_facade::Object;
use loggia_schema::limits;
use serde_json::{Value, json};

/// Inlines the local references of a schema.
///
/// Recursive references are cut where they repeat, remote and dangling ones accept anything. Forms of older drafts are
/// rewritten where they mean something else today. Returns `None` if the result would be too large.
pub(super) fn inline(root: &Object) -> Option<Object> {
    let mut inliner = SchemaInliner { root, open: Vec::new(), nodes: 0 };
    inliner.schema(root, 0)
}

struct SchemaInliner<'a> {
    root: &'a Object,
    /// The references being followed, outermost first.
    open: Vec<&'a str>,
    nodes: usize,
}

/// Keywords whose values are data, not schemas.
const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
/// Keywords whose values are schemas by name.
const MAPS: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords that say nothing once references are inlined, or that cannot be inlined.
const DROPPED: [&str; 10] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "$dynamicRef",
    "$recursiveRef",
    "$dynamicAnchor",
    "$vocabulary",
];

impl<'a> SchemaInliner<'a> {
    fn schema(&mut self, schema: &'a Object, depth: usize) -> Option<Object> {
        self.nodes += 1;
        if self.nodes > limits::SUBSCHEMAS || depth > limits::DEPTH * 2 {
            return None;
        }
        let mut out = Object::new();
        let mut target = None;
        for (keyword, value) in schema {
            let keyword = keyword.as_str();
            match value {
                _ if DROPPED.contains(&keyword) => {}
                Value::String(reference) if keyword == "$ref" => {
                    target = Some(self.reference(reference, depth)?);
                }
                Value::Object(map) if MAPS.contains(&keyword) => {
                    let mut inner = Object::new();
                    for (name, value) in map {
                        inner.insert(name.clone(), self.value(value, depth)?);
                    }
                    out.insert(keyword.to_owned(), Value::Object(inner));
                }
                // Drafts before 2020-12 wrote tuples in `items`.
                Value::Array(_) if keyword == "items" => {
                    out.insert("prefixItems".into(), self.value(value, depth)?);
                }
                _ if keyword == "additionalItems" => {
                    if schema.get("items").is_some_and(Value::is_array) {
                        out.insert("items".into(), self.value(value, depth)?);
                    }
                }
                // Draft 3 wrote it beside the property.
                Value::Bool(_) if keyword == "required" => {}
                // Draft 4 wrote it beside the limit.
                Value::Bool(is_exclusive) if matches!(keyword, "exclusiveMinimum" | "exclusiveMaximum") => {
                    let limit = if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
                    if *is_exclusive && let Some(bound) = schema.get(limit) {
                        out.insert(keyword.to_owned(), bound.clone());
                    }
                }
                _ if DATA.contains(&keyword) => {
                    out.insert(keyword.to_owned(), value.clone());
                }
                _ => {
                    out.insert(keyword.to_owned(), self.value(value, depth)?);
                }
            }
        }
        Some(match target {
            None => out,
            Some(target) => beside(out, target),
        })
    }

    fn value(&mut self, value: &'a Value, depth: usize) -> Option<Value> {
        Some(match value {
            Value::Object(schema) => Value::Object(self.schema(schema, depth + 1)?),
            Value::Array(list) => {
                Value::Array(list.iter().map(|value| self.value(value, depth)).collect::<Option<_>>()?)
            }
            other => other.clone(),
        })
    }

    fn reference(&mut self, reference: &'a str, depth: usize) -> Option<Object> {
        let target = match reference {
            "#" => Some(self.root),
            _ => reference.strip_prefix('#').and_then(|pointer| self.find(pointer)),
        };
        let Some(target) = target else { return Some(Object::new()) };
        if reference == "#" || self.open.contains(&reference) {
            let kind = target.get("type").filter(|kind| kind.is_string());
            return Some(
                kind.map_or_else(Object::new, |kind| Object::from_iter([("type".into(), kind.clone())])),
            );
        }
        self.open.push(reference);
        let inlined = self.schema(target, depth + 1);
        self.open.pop();
        inlined
    }

    /// Finds the target of a JSON pointer.
    fn find(&self, pointer: &str) -> Option<&'a Object> {
        let mut tokens = pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"));
        let first = self.root.get(&tokens.next()?)?;
        let found = tokens.try_fold(first, |value, token| match value {
            Value::Object(object) => object.get(&token),
            Value::Array(list) => list.get(token.parse::<usize>().ok()?),
            _ => None,
        });
        found?.as_object()
    }
}

/// Combines what is written beside a `$ref` with the target. Both apply.
fn beside(mut out: Object, target: Object) -> Object {
    let conflicts = target.keys().any(|keyword| out.contains_key(keyword) && !is_annotation(keyword));
    if conflicts {
        match out.get_mut("allOf").and_then(Value::as_array_mut) {
            Some(list) => list.push(Value::Object(target)),
            None => {
                out.insert("allOf".into(), json!([target]));
            }
        }
    } else {
        for (keyword, value) in target {
            out.entry(keyword).or_insert(value);
        }
    }
    out
}

fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly"
    ) || keyword.starts_with("x-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Value, expected: Value) {
        let inlined = inline(schema.as_object().expect("an object")).map(Value::Object);
        assert_eq!(inlined, Some(expected), "{schema}");
    }

    #[test]
    fn local_references_are_inlined() {
        check(
            json!({"$schema": "x", "properties": {"a": {"$ref": "#/$defs/a~1b", "description": "own"}},
                "$defs": {"a/b": {"type": "string", "description": "target"}}}),
            json!({"properties": {"a": {"description": "own", "type": "string"}}}),
        );
        // What both constrain stays apart.
        check(
            json!({"properties": {"a": {"$ref": "#/$defs/n", "minimum": 2}}, "$defs": {"n": {"minimum": 1}}}),
            json!({"properties": {"a": {"minimum": 2, "allOf": [{"minimum": 1}]}}}),
        );
        // Data and names of properties are not keywords.
        check(
            json!({"properties": {"$ref": {"const": {"$ref": "#/x"}}, "enum": {"$ref": "#/$defs/x"}}, "$defs": {"x": true}}),
            json!({"properties": {"$ref": {"const": {"$ref": "#/x"}}, "enum": {}}}),
        );
    }

    #[test]
    fn recursive_and_remote_references_are_cut() {
        check(
            json!({"properties": {"tree": {"$ref": "#/$defs/node"}, "all": {"$ref": "#"}, "far": {"$ref": "http://x/y"}},
                "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}}),
            json!({"properties": {"tree": {"type": "object", "properties": {"next": {"type": "object"}}}, "all": {}, "far": {}}}),
        );
    }

    #[test]
    fn older_drafts_are_rewritten() {
        check(
            json!({"properties": {"t": {"items": [{"type": "string"}], "additionalItems": false},
                "n": {"minimum": 0, "exclusiveMinimum": true, "required": true}}}),
            json!({"properties": {"t": {"prefixItems": [{"type": "string"}], "items": false},
                "n": {"minimum": 0, "exclusiveMinimum": 0}}}),
        );
    }

    #[test]
    fn exponential_references_are_refused() {
        let mut definitions = Object::new();
        for level in 0..30 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"properties": {"a": next, "b": next}}));
        }
        let root = json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
        assert_eq!(inline(root.as_object().expect("an object")), None);
    }
}
