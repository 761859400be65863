//! Derives shapes from resolved schemas.

use loggia_facade::Object;
use serde_json::Value;

use crate::model::{
    brief, constraints, keywords,
    shape::{ShapeMember, ValueShape},
    value_texts::ValueText,
};

impl ValueShape {
    /// Derives the shape of a resolved schema.
    pub(crate) fn from_schema(schema: &Value) -> Self {
        // A schema that accepts only null has no shape.
        Self::read(schema).unwrap_or(Self::Any)
    }

    fn read(schema: &Value) -> Option<Self> {
        let Value::Object(schema) = schema else { return Some(Self::Any) };
        let own = Self::from_own_keywords(schema);
        let conjuncts = keywords::conjuncts(schema).map(Self::from_object);
        let alternatives = keywords::alternatives(schema)
            .map(|branches| loosest_of(branches.iter().filter_map(Self::read)).unwrap_or(Self::Any));
        match own {
            OwnShape::Nothing => None,
            OwnShape::Anything => Some(conjuncts.chain(alternatives).fold(Self::Any, Self::intersect)),
            OwnShape::Shape(shape) => Some(conjuncts.chain(alternatives).fold(shape, Self::intersect)),
        }
    }

    fn from_object(schema: &Object) -> Self {
        Self::read(&Value::Object(schema.clone())).unwrap_or(Self::Any)
    }

    /// Derives a shape from a schema's own keywords, without alternatives and `allOf`.
    fn from_own_keywords(schema: &Object) -> OwnShape {
        if let Some(values) = keywords::allowed_values(schema) {
            let shapes = values.iter().filter_map(Self::from_constant);
            return loosest_of(shapes).map_or(OwnShape::Nothing, OwnShape::Shape);
        }
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if schema.contains_key("properties") => vec!["object"],
            _ if schema.contains_key("items") => vec!["array"],
            _ => return OwnShape::Anything,
        };
        let shapes = kinds.iter().filter_map(|kind| Self::from_type(kind, schema));
        loosest_of(shapes).map_or(OwnShape::Nothing, OwnShape::Shape)
    }

    fn from_type(kind: &str, schema: &Object) -> Option<Self> {
        Some(match kind {
            "boolean" => Self::Boolean,
            "integer" | "number" => Self::Number { integer: kind == "integer" },
            "string" => Self::Text(None),
            "array" => {
                let first =
                    schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let most = schema.get("maxItems").and_then(Value::as_u64);
                let rest = match schema.get("items") {
                    Some(Value::Bool(false)) => None,
                    _ if most.is_some_and(|most| most <= first.len() as u64) => None,
                    Some(items) => Self::read(items),
                    None => Some(Self::Any),
                };
                let items = loosest_of(first.iter().filter_map(Self::read).chain(rest));
                Self::List(Box::new(items.unwrap_or(Self::Any)))
            }
            "object" => Self::record(schema),
            _ => return None,
        })
    }

    fn record(schema: &Object) -> Self {
        let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let members = members
            .filter(|(_, schema)| **schema != Value::Bool(false))
            .map(|(name, member)| {
                let values = ValueText::of_schema(member);
                ShapeMember {
                    name: name.clone(),
                    required: keywords::lists_name(schema, "required", name),
                    shape: Self::from_schema(member),
                    text: ValueText::append(constraints::describe(member), &values),
                    brief: brief::brief(name, member),
                    values,
                }
            })
            .collect();
        let others = match schema.get("additionalProperties").or_else(|| schema.get("unevaluatedProperties"))
        {
            Some(Value::Bool(true)) => Some(Self::Any),
            Some(schema @ Value::Object(_)) => Some(Self::from_schema(schema)),
            _ => None,
        };
        let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let others = loosest_of(patterns.map(|(_, schema)| Self::from_schema(schema)).chain(others));
        Self::Record { members, others: others.map(Box::new) }
    }

    fn from_constant(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) => Self::Number { integer: !number.is_f64() },
            Value::String(text) => Self::Text(Some(vec![text.clone()])),
            Value::Array(_) => Self::List(Box::new(Self::Any)),
            Value::Object(_) => Self::Record { members: Vec::new(), others: Some(Box::new(Self::Any)) },
        })
    }

    /// Merges two shapes that both apply. If they conflict, the first wins.
    fn intersect(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, shape) | (shape, Self::Any) => shape,
            (Self::Record { mut members, others }, Self::Record { members: more, others: also }) => {
                for member in more {
                    match members.iter_mut().find(|m| m.name == member.name) {
                        Some(known) => {
                            known.required |= member.required;
                            known.shape =
                                std::mem::replace(&mut known.shape, Self::Any).intersect(member.shape);
                        }
                        None => members.push(member),
                    }
                }
                Self::Record { members, others: others.or(also) }
            }
            (Self::Text(None), text @ Self::Text(_)) => text,
            (shape, _) => shape,
        }
    }
}

enum OwnShape {
    /// Only null.
    Nothing,
    /// No keyword restricts the type.
    Anything,
    Shape(ValueShape),
}

fn loosest_of(shapes: impl Iterator<Item = ValueShape>) -> Option<ValueShape> {
    shapes.reduce(ValueShape::loosest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the published form of a resolved property.
    fn check(schema: Value, expected: Value) {
        let root = json!({"type": "object", "properties": {"p": schema}});
        let resolved = crate::model::resolve::resolve(root.as_object().unwrap()).unwrap();
        let shape = ValueShape::from_schema(&resolved["properties"]["p"]);
        assert_eq!(Value::Object(shape.to_json()), expected, "{schema}");
    }

    #[test]
    fn published_schemas_have_only_supported_keywords() {
        for (schema, expected) in [
            (
                json!({"type": "string", "minLength": 1, "pattern": "^x", "format": "date", "default": "x"}),
                json!({"type": "string"}),
            ),
            (json!({"type": ["string", "null"]}), json!({"type": "string"})),
            (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
            (json!({"const": 3}), json!({"type": "integer"})),
            (json!({"enum": [1, 2, null]}), json!({"type": "integer"})),
            (json!({"enum": ["a", "b", null]}), json!({"type": "string", "enum": ["a", "b"]})),
            (
                json!({"enum": ["a", 1]}),
                json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer"}]}),
            ),
            (
                json!({"type": "integer", "minimum": 1, "maximum": 50, "exclusiveMinimum": 0}),
                json!({"type": "integer"}),
            ),
            (json!({"type": "array"}), json!({"type": "array", "items": {}})),
            (
                json!({"type": "array", "items": {"type": ["integer", "null"]}, "uniqueItems": true}),
                json!({"type": "array", "items": {"type": "integer"}}),
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false}),
                json!({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "string"}]}}),
            ),
            (json!({"type": "object"}), json!({"type": "object", "properties": {}})),
            (
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                json!({"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}}),
            ),
            (
                json!({"type": "object", "required": ["a"], "additionalProperties": false,
                    "properties": {"a": {"type": "string", "description": "An a."}, "b": {"minimum": 2, "type": "integer"}}}),
                json!({"type": "object", "required": ["a"], "properties":
                    {"a": {"type": "string", "description": "An a."}, "b": {"type": "integer", "description": "min 2"}}}),
            ),
            (json!(true), json!({})),
            (json!({"description": "Whatever."}), json!({})),
            (json!({"type": "null"}), json!({})),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "number"}]}),
                json!({"anyOf": [{"type": "string"}, {"type": "number"}]}),
            ),
            (json!({"anyOf": [{"type": "string"}, {"enum": ["a"]}]}), json!({"type": "string"})),
            (
                json!({"allOf": [{"type": "string"}, {"enum": ["a"]}]}),
                json!({"type": "string", "enum": ["a"]}),
            ),
        ] {
            check(schema, expected);
        }
    }

    #[test]
    fn tagged_alternatives_are_merged_into_one_object() {
        check(
            json!({"oneOf": [
                {"type": "object", "required": ["kind", "r"], "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}},
                {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}},
            ]}),
            json!({"type": "object", "required": ["kind"], "properties":
                {"kind": {"type": "string", "enum": ["circle", "square"]}, "r": {"type": "number"}, "a": {"type": "number"}}}),
        );
    }
}
