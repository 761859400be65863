//! Detail levels by annotation: what `#[detail]` makes of its marks. Not for use by hand.
//!
//! A marked field is skipped by serde itself (`skip_serializing_if`), by a level that is set only while the SDK writes a
//! result. So it does not matter how results are nested, flattened or renamed, a result is written in one go, and a type
//! without marks pays nothing. Whatever else an action serialises, to keep it say, is written whole.

use std::{borrow::Cow, cell::Cell, marker::PhantomData};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::json;

use crate::{Detail, Object, Value};

/// The keyword by which a field's level is published.
pub const KEYWORD: &str = "x-detail";

thread_local! {
    static LEVEL: Cell<Detail> = const { Cell::new(Detail::Full) };
}

/// The level of what is serialised while this lives.
pub(crate) struct Scope(Detail);

impl Scope {
    pub(crate) fn new(level: Detail) -> Self {
        Self(LEVEL.replace(level))
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        LEVEL.set(self.0);
    }
}

/// Skips an unmarked field, for `skip_serializing_if`.
pub fn below_standard<T: ?Sized>(_: &T) -> bool {
    LEVEL.get() < Detail::Standard
}

/// Skips a field marked `full`, for `skip_serializing_if`.
pub fn below_full<T: ?Sized>(_: &T) -> bool {
    LEVEL.get() < Detail::Full
}

/// The schema of a flattened field that may be left out, for `schemars(with)`: `schemars` does not look at
/// `skip_serializing_if` there, and would require what the field brings along.
pub struct Flattened<T: ?Sized, const FULL: bool>(PhantomData<T>);

impl<T: ?Sized + JsonSchema, const FULL: bool> JsonSchema for Flattened<T, FULL> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        if generator.contract().is_serialize() {
            loosen(schema.ensure_object(), FULL);
        }
        schema
    }
}

// Not generic, so that a guest holds it once.
fn loosen(schema: &mut Object, full: bool) {
    schema.remove("required");
    if let Some(alternatives) = schema.remove("oneOf") {
        // Nothing at all is a further alternative, but not one that excludes the others.
        schema.insert("anyOf".into(), json!([{ "oneOf": alternatives }, {}]));
    } else if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.push(json!({}));
    }
    if !full {
        return;
    }
    for property in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if let Value::Object(property) = property.1 {
            property.insert(KEYWORD.into(), "full".into());
        }
    }
}

/// Whether results of this schema differ with the detail level.
pub(crate) fn marked(schema: &Value) -> bool {
    match schema {
        Value::Object(schema) => schema.iter().any(|(keyword, value)| match keyword.as_str() {
            KEYWORD => true,
            // These hold data, not schemas.
            "default" | "examples" | "enum" | "const" => false,
            // A field that is called like one of those is none of them.
            "properties" => value.as_object().into_iter().flatten().any(|(_, property)| marked(property)),
            _ => marked(value),
        }),
        Value::Array(items) => items.iter().any(marked),
        _ => false,
    }
}
