//! Kinds of values that a schema accepts, as far as a template's text can be converted.

use loggia_facade::Object;
use serde_json::Value;

/// Maximum number of references and nested alternatives to follow.
const DEPTH: usize = 16;

/// Position in a schema, with the root that references resolve against.
#[derive(Clone, Copy)]
pub(crate) struct SchemaCursor<'a> {
    root: &'a Object,
    here: Option<&'a Object>,
}

/// Kind of value that a schema accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaKind {
    /// Unknown, or several kinds.
    Any,
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
}

impl<'a> SchemaCursor<'a> {
    /// Starts at the root of a parameter schema.
    pub(crate) fn new(root: &'a Object) -> Self {
        Self { root, here: Some(root) }
    }

    /// Descends to a member.
    pub(crate) fn member(self, name: &str) -> Self {
        self.descend(|schema| {
            let named = schema.get("properties").and_then(|members| members.get(name));
            named.or_else(|| schema.get("additionalProperties"))
        })
    }

    /// Descends to a list item.
    pub(crate) fn item(self, index: usize) -> Self {
        self.descend(|schema| {
            let first = schema.get("prefixItems").and_then(|items| items.get(index));
            first.or_else(|| schema.get("items"))
        })
    }

    /// Returns the accepted kind besides `null`, and whether `null` is accepted.
    pub(crate) fn kind(self) -> (SchemaKind, bool) {
        let mut found = Found::default();
        if let Some(schema) = self.here {
            found.collect(self.root, schema, 0);
        }
        let kind = match found.kinds[..] {
            _ if found.unknown => SchemaKind::Any,
            [kind] => kind,
            // Every integer is a number.
            [SchemaKind::Integer, SchemaKind::Number] | [SchemaKind::Number, SchemaKind::Integer] => {
                SchemaKind::Number
            }
            _ => SchemaKind::Any,
        };
        (kind, found.null || self.here.is_none() || found.unknown)
    }

    fn descend(self, part: impl Fn(&'a Object) -> Option<&'a Value>) -> Self {
        let here = self.here.and_then(|schema| {
            let schema = resolve_ref(self.root, schema);
            // A nullable list or object is written as alternatives.
            let beside =
                ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|word| schema.get(word)?.as_array());
            let others =
                beside.flatten().filter_map(|other| Some(resolve_ref(self.root, other.as_object()?)));
            std::iter::once(schema).chain(others).find_map(|schema| part(schema)?.as_object())
        });
        Self { root: self.root, here }
    }
}

/// Follows `$ref` within the same schema.
fn resolve_ref<'a>(root: &'a Object, mut schema: &'a Object) -> &'a Object {
    for _ in 0..DEPTH {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/"));
        let Some(target) = target else { break };
        let mut names = target.split('/').map(|name| name.replace("~1", "/").replace("~0", "~"));
        let first = names.next().and_then(|name| root.get(&name));
        match names.try_fold(first, |at, name| Some(at?.get(&name))).flatten().and_then(Value::as_object) {
            Some(found) => schema = found,
            None => break,
        }
    }
    schema
}

#[derive(Default)]
struct Found {
    kinds: Vec<SchemaKind>,
    null: bool,
    unknown: bool,
}

impl Found {
    fn collect(&mut self, root: &Object, schema: &Object, depth: usize) {
        let schema = resolve_ref(root, schema);
        if depth > DEPTH {
            self.unknown = true;
            return;
        }
        if let Some(kind) = schema.get("type") {
            return match kind {
                Value::Array(kinds) => kinds.iter().for_each(|kind| self.add_type_name(kind)),
                kind => self.add_type_name(kind),
            };
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values.iter().for_each(|value| self.add_type_of(value));
        }
        if let Some(value) = schema.get("const") {
            return self.add_type_of(value);
        }
        let beside = ["anyOf", "oneOf"].into_iter().find_map(|word| schema.get(word)?.as_array());
        match (beside, schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice)) {
            (Some(others), _) => others.iter().for_each(|other| match other {
                Value::Object(other) => self.collect(root, other, depth + 1),
                _ => self.unknown = true,
            }),
            (None, Some([Value::Object(only)])) => self.collect(root, only, depth + 1),
            _ => self.unknown = true,
        }
    }

    fn add_type_name(&mut self, word: &Value) {
        let kind = match word.as_str() {
            Some("null") => return self.null = true,
            Some("string") => SchemaKind::String,
            Some("integer") => SchemaKind::Integer,
            Some("number") => SchemaKind::Number,
            Some("boolean") => SchemaKind::Boolean,
            Some("object") => SchemaKind::Object,
            Some("array") => SchemaKind::Array,
            _ => return self.unknown = true,
        };
        self.add_kind(kind);
    }

    fn add_type_of(&mut self, value: &Value) {
        match value {
            Value::Null => self.null = true,
            Value::String(_) => self.add_kind(SchemaKind::String),
            Value::Bool(_) => self.add_kind(SchemaKind::Boolean),
            Value::Number(number) if number.is_f64() => self.add_kind(SchemaKind::Number),
            Value::Number(_) => self.add_kind(SchemaKind::Integer),
            Value::Object(_) => self.add_kind(SchemaKind::Object),
            Value::Array(_) => self.add_kind(SchemaKind::Array),
        }
    }

    fn add_kind(&mut self, kind: SchemaKind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_follow_from_the_schema() {
        for (schema, expected) in [
            (json!({"type": "integer"}), (SchemaKind::Integer, false)),
            (json!({"type": ["string", "null"]}), (SchemaKind::String, true)),
            (json!({"type": ["integer", "number"]}), (SchemaKind::Number, false)),
            (json!({"type": ["string", "integer"]}), (SchemaKind::Any, false)),
            (json!({"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}), (SchemaKind::Number, true)),
            (json!({"oneOf": [{"type": "string"}, true]}), (SchemaKind::Any, true)),
            (json!({"allOf": [{"type": "array"}]}), (SchemaKind::Array, false)),
            (json!({"enum": ["a", "b", null]}), (SchemaKind::String, true)),
            (json!({"const": true}), (SchemaKind::Boolean, false)),
            (json!({"$ref": "#/$defs/loop"}), (SchemaKind::Any, true)),
            (json!({"$ref": "#/$defs/nested"}), (SchemaKind::Any, true)),
            (json!({"$ref": "#/nowhere"}), (SchemaKind::Any, true)),
            (json!({}), (SchemaKind::Any, true)),
            (json!(true), (SchemaKind::Any, true)),
        ] {
            let root = json!({"properties": {"p": schema}, "$defs": {"n": {"type": "number"},
                "loop": {"$ref": "#/$defs/loop"}, "nested": {"anyOf": [{"$ref": "#/$defs/nested"}]}}});
            assert_eq!(SchemaCursor::new(root.as_object().unwrap()).member("p").kind(), expected, "{root}");
        }
    }

    #[test]
    fn it_is_followed_through_members_and_items() {
        let root = json!({"properties": {"list": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/list"}]}},
            "$defs": {"list": {"type": "array", "prefixItems": [{"type": "string"}],
                "items": {"additionalProperties": {"type": "integer"}}}}});
        let list = SchemaCursor::new(root.as_object().unwrap()).member("list");
        assert_eq!(list.kind(), (SchemaKind::Array, true));
        assert_eq!(list.item(0).kind(), (SchemaKind::String, false));
        assert_eq!(list.item(1).member("any").kind(), (SchemaKind::Integer, false));
        assert_eq!(list.item(1).member("any").member("more").kind(), (SchemaKind::Any, true));
    }
}
