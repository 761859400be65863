//! Support code for `#[detail]`. Not for direct use.
//!
//! Serde itself skips a marked field (`skip_serializing_if`), depending on a level that is set only while the SDK
//! writes a result. So results may be nested, flattened or renamed, a result is written in one pass, and types without
//! marks cost nothing. Other data that an action serialises, for example to store it, are complete.

use std::{borrow::Cow, cell::Cell, marker::PhantomData};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::json;

use crate::{Detail, Object, Value};

/// Schema keyword for a field's level.
pub const KEYWORD: &str = "x-detail";

thread_local! {
    static LEVEL: Cell<Detail> = const { Cell::new(Detail::Full) };
}

/// Sets the level of serialisation while it lives.
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

/// Schema of a flattened field that may be omitted, for `schemars(with)`: `schemars` ignores `skip_serializing_if`
/// there, and would require the field's contribution.
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

// Not generic, so that a guest contains it once.
fn loosen(schema: &mut Object, full: bool) {
    schema.remove("required");
    if let Some(alternatives) = schema.remove("oneOf") {
        // The absence is one more alternative, but not an exclusive one.
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

/// Tests whether results of this schema depend on the detail level.
pub(crate) fn marked(schema: &Value) -> bool {
    match schema {
        Value::Object(schema) => schema.iter().any(|(keyword, value)| match keyword.as_str() {
            KEYWORD => true,
            // These hold data, not schemas.
            "default" | "examples" | "enum" | "const" => false,
            // A field with such a name is not one of them.
            "properties" => value.as_object().into_iter().flatten().any(|(_, property)| marked(property)),
            _ => marked(value),
        }),
        Value::Array(items) => items.iter().any(marked),
        _ => false,
    }
}
