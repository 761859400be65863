//! A property of the `flat` form: JSON Schema for its own members, one line of TypeScript for what nests deeper.
//!
//! A line takes a third of the tokens of a schema, and models read it as well. Clients that restrict generation to the
//! schema still see every parameter and its members.
//!
//! `typeof spec` is the type of the tool's parameter `spec`, so that no type is written twice.

use loggia_facade::Object;
use serde_json::{Value, json};

use crate::model::{
    shape::{ShapeMember, ValueShape},
    signature::{KnownShapes, nested_type},
    value_texts::ValueText,
};

/// The schema of a property with this text. `known` returns the shapes of the tool's other parameters.
pub(crate) fn brief_schema(shape: &ValueShape, text: String, known: KnownShapes<'_>) -> Value {
    let mut out = own_schema(shape, known);
    if !text.is_empty() {
        out.insert("description".into(), text.into());
    }
    out.into()
}

fn own_schema(shape: &ValueShape, known: KnownShapes<'_>) -> Object {
    let mut out = Object::new();
    match shape {
        ValueShape::List(items) => {
            out.insert("type".into(), "array".into());
            out.insert("items".into(), own_schema(items, known).into());
        }
        ValueShape::Union(shapes) => {
            let shapes: Vec<Value> = shapes.iter().map(|shape| own_schema(shape, known).into()).collect();
            out.insert("anyOf".into(), shapes.into());
        }
        ValueShape::Record { members, .. } => {
            // The rest of the schema is small.
            out = shape.to_json();
            let properties = members.iter().map(|member| (member.name.clone(), member_schema(member, known)));
            out.insert("properties".into(), properties.collect::<Object>().into());
        }
        shape => out = shape.to_json(),
    }
    out
}

/// A member of a parameter. Objects in it are described in one line.
fn member_schema(member: &ShapeMember, known: KnownShapes<'_>) -> Value {
    let ShapeMember { name, shape, brief, values, .. } = member;
    // The tool's parameter of the same name says what the values mean.
    let is_said = known(name).is_some_and(|known| known.is_same_type(shape));
    let brief = ValueText::append(brief.clone(), if is_said { &[] } else { values });
    let text = |line: Option<String>| {
        let texts: Vec<String> =
            line.into_iter().chain(Some(brief.clone()).filter(|text| !text.is_empty())).collect();
        texts.join(" ")
    };
    let with_text = |mut schema: Object, text: String| {
        if !text.is_empty() {
            schema.insert("description".into(), text.into());
        }
        Value::Object(schema)
    };
    match shape {
        shape if !nests(shape) => with_text(shape.to_json(), text(None)),
        ValueShape::List(items) if matches!(**items, ValueShape::Record { .. }) => {
            let line = nested_type(name, shape, known);
            json!({"type": "array", "items": {"type": "object", "properties": {}, "additionalProperties": true},
                "description": text(Some(line))})
        }
        ValueShape::Record { .. } => open_object(text(Some(nested_type(name, shape, known)))),
        shape => with_text(own_schema(shape, known), text(None)),
    }
}

/// An object whose members only the description names. `additionalProperties` is explicit, because some clients treat
/// an object without members as one that must be empty.
pub(crate) fn open_object(description: String) -> Value {
    let mut out = json!({"type": "object", "properties": {}, "additionalProperties": true});
    if !description.is_empty() {
        out["description"] = description.into();
    }
    out
}

/// Whether a shape has objects with known members.
fn nests(shape: &ValueShape) -> bool {
    match shape {
        ValueShape::Record { members, others } => {
            !members.is_empty() || others.as_deref().is_some_and(|others| *others != ValueShape::Any)
        }
        ValueShape::List(items) => nests(items),
        ValueShape::Union(shapes) => shapes.iter().any(nests),
        _ => false,
    }
}
