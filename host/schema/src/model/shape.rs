//! A schema reduced to what models need: types, names and allowed strings.
//!
//! Published forms and signatures are made from shapes, while the gate validates against the schema. A shape accepts
//! at least what its schema accepts, with three exceptions: null is left out, a schema with `properties` counts as an
//! object, and an object without `additionalProperties` counts as closed.

use loggia_facade::Object;
use serde_json::{Map, Value};

use crate::model::value_texts::ValueText;

/// The type of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ValueShape {
    /// Any JSON value.
    Any,
    Boolean,
    /// A number. Bounds are part of the description: most clients drop them from schemas, and the rest would show them
    /// twice.
    Number {
        integer: bool,
    },
    /// A string; one of these values, if they are given.
    Text(Option<Vec<String>>),
    List(Box<ValueShape>),
    Record {
        members: Vec<ShapeMember>,
        /// The shape of further members, if they are allowed.
        others: Option<Box<ValueShape>>,
    },
    /// Any of several shapes, at most one of each kind.
    Union(Vec<ValueShape>),
}

/// A member of a record. At the root, a parameter of an action.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShapeMember {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) shape: ValueShape,
    /// The author's description, with constraints and the texts of values.
    pub(crate) text: String,
    /// The part of it that a first call needs, without the texts of values. May be empty.
    pub(crate) brief: String,
    /// What the values of an `enum` mean.
    pub(crate) values: Vec<ValueText>,
}

impl ValueShape {
    /// Whether two shapes differ in their texts at most.
    pub(crate) fn is_same_type(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(one), Self::List(other)) => one.is_same_type(other),
            (Self::Union(some), Self::Union(others)) => {
                some.len() == others.len()
                    && some.iter().zip(others).all(|(one, other)| one.is_same_type(other))
            }
            (Self::Record { members, others }, Self::Record { members: more, others: also }) => {
                let same = |(one, other): (&ShapeMember, &ShapeMember)| {
                    one.name == other.name
                        && one.required == other.required
                        && one.shape.is_same_type(&other.shape)
                };
                let further = match (others, also) {
                    (Some(others), Some(also)) => others.is_same_type(also),
                    (others, also) => others.is_none() && also.is_none(),
                };
                members.len() == more.len() && members.iter().zip(more).all(same) && further
            }
            (one, other) => one == other,
        }
    }

    /// Renders the JSON Schema that MCP clients see: `type`, `enum`, `items`, `properties` and `required`.
    pub(crate) fn to_json(&self) -> Object {
        let mut out = Map::new();
        match self {
            Self::Any => {}
            Self::Boolean => put(&mut out, "type", "boolean"),
            Self::Number { integer } => put(&mut out, "type", if *integer { "integer" } else { "number" }),
            Self::Text(values) => {
                put(&mut out, "type", "string");
                // Gemini rejects empty strings in `enum`; the description lists the values then.
                if let Some(values) = values
                    && !values.iter().any(String::is_empty)
                {
                    put(&mut out, "enum", values.clone());
                }
            }
            Self::List(items) => {
                put(&mut out, "type", "array");
                put(&mut out, "items", items.to_json());
            }
            Self::Record { members, others } => {
                put(&mut out, "type", "object");
                let properties = members.iter().map(|member| {
                    let mut property = member.shape.to_json();
                    if !member.text.is_empty() {
                        property.insert("description".into(), member.text.clone().into());
                    }
                    (member.name.clone(), Value::Object(property))
                });
                put(&mut out, "properties", properties.collect::<Object>());
                let required: Vec<_> =
                    members.iter().filter(|m| m.required).map(|m| m.name.clone()).collect();
                if !required.is_empty() {
                    put(&mut out, "required", required);
                }
                if let Some(others) = others
                    && **others != Self::Any
                {
                    put(&mut out, "additionalProperties", others.to_json());
                }
            }
            Self::Union(shapes) => {
                put(&mut out, "anyOf", shapes.iter().map(|s| Value::Object(s.to_json())).collect::<Vec<_>>());
            }
        }
        out
    }
}

fn put(out: &mut Object, key: &str, value: impl Into<Value>) {
    out.insert(key.to_owned(), value.into());
}
