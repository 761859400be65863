//! A schema reduced to what a model needs to see: kinds, names and allowed words.
//!
//! A shape is never stricter than its schema (save that null is left out, that what has `properties` is taken for an
//! object, and an object that is silent about other members for one that has none), so it is what the published forms and the signatures are made from, while the gate validates against
//! the schema itself.

use loggia_facade::Object;
use serde_json::{Map, Value};

/// What a value looks like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ValueShape {
    /// Any JSON.
    Any,
    Boolean,
    /// A number; a whole one, if it is true. Bounds are told in words: most clients drop them from what a model sees,
    /// and those that do not would have them twice.
    Number {
        integer: bool,
    },
    /// A text; one of these, if they are given.
    Text(Option<Vec<String>>),
    List(Box<ValueShape>),
    Record {
        members: Vec<ShapeMember>,
        /// What members without a name of their own look like, where there may be such.
        others: Option<Box<ValueShape>>,
    },
    /// Any of several, at most one of each kind.
    Union(Vec<ValueShape>),
}

/// A member of a record: a parameter, where the record is an action's parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShapeMember {
    pub name: String,
    pub required: bool,
    pub shape: ValueShape,
    /// What the author says of it, and its bounds in words.
    pub text: String,
}

impl ValueShape {
    /// What an MCP client sees of it: type, enum, items, properties and required.
    pub(crate) fn to_json(&self) -> Object {
        let mut out = Map::new();
        match self {
            Self::Any => {}
            Self::Boolean => put(&mut out, "type", "boolean"),
            Self::Number { integer } => put(&mut out, "type", if *integer { "integer" } else { "number" }),
            Self::Text(values) => {
                put(&mut out, "type", "string");
                // Gemini takes no empty word; then all are told in the description.
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
