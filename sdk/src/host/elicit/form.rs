//! A type's schema as a form, in the part of JSON Schema that MCP's clients draw forms of.
//!
//! That part is small: one object, whose properties are texts, numbers, booleans or choices, with few keywords each.
//! Other keywords (for example `pattern`) are omitted: deserialisation checks them anyway. Other types are the author's
//! mistake and reported.

use schemars::{JsonSchema, generate::Contract};

use super::Form;
use crate::{Failure, Object, Result, Value, shape};

/// Keywords of every field, and those of one kind.
const COMMON: [&str; 4] = ["type", "title", "description", "default"];
const TEXT: [&str; 5] = ["minLength", "maxLength", "format", "enum", "enumNames"];
const NUMBER: [&str; 2] = ["minimum", "maximum"];
const SEVERAL: [&str; 3] = ["items", "minItems", "maxItems"];
/// Formats that clients support.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// A form without fields.
pub(super) fn empty() -> Form {
    assemble(Object::new(), None)
}

/// A form with one required field: a choice of these values, each with its title.
pub(super) fn one_of(field: &str, choices: &[(&str, &str)]) -> Form {
    let mut property = Object::new();
    property.insert("type".into(), "string".into());
    let choices: Vec<Value> = choices.iter().map(|(value, title)| choice(value, Some(title))).collect();
    property.insert("oneOf".into(), choices.into());
    let mut fields = Object::new();
    fields.insert(field.to_owned(), property.into());
    assemble(fields, Some(vec![field].into()))
}

/// The form that asks for a `T`.
///
/// # Errors
///
/// `internal` if the type cannot be a form; the message names the type and the field.
pub(super) fn of<T: JsonSchema>() -> Result<Form> {
    let mut generator = shape::generator(Contract::Deserialize);
    let schema = T::json_schema(&mut generator);
    form(shape::object(schema)).map_err(|fault| {
        Failure::internal(format!("`{}` cannot be asked for by a form: {fault}", T::schema_name()))
            .hint("A form is one structure, whose fields are texts, numbers, `bool`s, enums without data, or lists of these enums.")
    })
}

// Not generic, so that a guest contains it once.
fn form(mut schema: Object) -> Result<Form, String> {
    shape::tidy(&mut schema, None);
    let is_flat = ["oneOf", "anyOf", "allOf", "$ref"].iter().all(|keyword| !schema.contains_key(*keyword))
        && matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false)));
    if schema.get("type").and_then(Value::as_str) != Some("object") || !is_flat {
        return Err("it is not a struct with only named fields".to_owned());
    }
    let mut fields = Object::new();
    if let Some(Value::Object(properties)) = schema.remove("properties") {
        for (name, property) in properties {
            let drawn = match property {
                Value::Object(property) => field(property),
                _ => Err("may be anything"),
            };
            fields.insert(name.clone(), drawn.map_err(|fault| format!("its field `{name}` {fault}"))?.into());
        }
    }
    Ok(assemble(fields, schema.remove("required")))
}

fn assemble(fields: Object, required: Option<Value>) -> Form {
    let mut form = Object::new();
    form.insert("type".into(), "object".into());
    form.insert("properties".into(), fields.into());
    if let Some(required) = required {
        form.insert("required".into(), required);
    }
    form
}

/// Converts one field, without keywords that clients do not support; the error is the reason why it cannot be a field.
fn field(schema: Object) -> Result<Object, &'static str> {
    let mut schema = without_null(schema);
    if let Some(alternatives) = schema.remove("oneOf") {
        let choices = choices(&alternatives).ok_or("has alternatives that are not a plain choice")?;
        schema.retain(|keyword, _| COMMON.contains(&keyword.as_str()));
        schema.insert("type".into(), "string".into());
        schema.insert("oneOf".into(), choices);
        return Ok(schema);
    }
    if let Some(only @ Value::String(_)) = schema.remove("const") {
        schema.insert("enum".into(), vec![only].into());
    }
    let kind: &[&str] = match schema.get("type").and_then(Value::as_str) {
        Some("string") => &TEXT,
        Some("integer" | "number") => &NUMBER,
        Some("boolean") => &[],
        Some("array") => {
            let items = schema.remove("items").and_then(|items| several(items.as_object()?));
            schema.insert("items".into(), items.ok_or("is a list, and not of choices")?.into());
            &SEVERAL
        }
        Some("object") => return Err("is a structure or a map"),
        _ => return Err("may be of more than one kind"),
    };
    schema.retain(|keyword, value| match keyword.as_str() {
        "format" => {
            kind.contains(&"format") && value.as_str().is_some_and(|format| FORMATS.contains(&format))
        }
        keyword => COMMON.contains(&keyword) || kind.contains(&keyword),
    });
    Ok(schema)
}

/// Items of a list of choices; `None` for anything else.
fn several(items: &Object) -> Option<Object> {
    let mut several = Object::new();
    if let Some(alternatives) = items.get("oneOf") {
        several.insert("anyOf".into(), choices(alternatives)?);
    } else {
        let only = items.get("const").map(|only| Value::Array(vec![only.clone()]));
        let values = only.or_else(|| items.get("enum").cloned())?;
        several.insert("type".into(), "string".into());
        several.insert("enum".into(), values.as_array()?.iter().all(Value::is_string).then_some(values)?);
    }
    Some(several)
}

/// Removes the `Option`: in a form, optional fields are simply not required.
fn without_null(mut schema: Object) -> Object {
    let is_null = |value: &Value| value.as_str() == Some("null");
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| !is_null(kind));
        if let [kind] = kinds.as_mut_slice() {
            let kind = kind.take();
            schema.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative.get("type").is_none_or(|kind| !is_null(kind)));
        if let [Value::Object(only)] = alternatives.as_mut_slice() {
            let mut only = std::mem::take(only);
            schema.remove("anyOf");
            // The field's own keywords take precedence over those of its type.
            only.extend(schema);
            return only;
        }
    }
    schema
}

/// The variants of an enum, of which some have doc comments, as values with titles.
fn choices(alternatives: &Value) -> Option<Value> {
    let mut choices = Vec::new();
    for alternative in alternatives.as_array()? {
        let title = alternative.get("description").and_then(Value::as_str);
        match (alternative.get("const"), alternative.get("enum")) {
            (Some(Value::String(value)), _) => choices.push(choice(value, title)),
            (None, Some(Value::Array(values))) => {
                for value in values {
                    choices.push(choice(value.as_str()?, None));
                }
            }
            _ => return None,
        }
    }
    Some(choices.into())
}

fn choice(value: &str, title: Option<&str>) -> Value {
    let mut choice = Object::new();
    choice.insert("const".into(), value.into());
    choice.insert("title".into(), title.unwrap_or(value).into());
    choice.into()
}
