//! Forms that ask a person: flat objects of strings, numbers, choices and booleans, as MCP clients show them.
//!
//! A form is rebuilt from known keys; unknown keys are refused. So it contains no references, patterns or nested
//! schemas, and checking an answer is cheap.

use loggia_facade::Object;
use serde_json::Value;

use crate::{
    model::{
        compiled::CompiledSchema,
        sanitise::{is_clean, sanitise_line},
    },
    text::{
        secret_words::{asks_for_secret, names_secret},
        show,
    },
};

/// Fields of a form.
const FIELDS: usize = 16;
/// Bytes of a form's schema.
const BYTES: usize = 16 << 10;
/// Choices of a field.
const CHOICES: usize = 100;
/// Bytes of a title.
const TITLE: usize = 200;
/// Bytes of a description.
const DESCRIPTION: usize = 1000;
/// Bytes of a field name, a choice, or a default.
const VALUE: usize = 500;

/// A validated form that checks answers.
pub struct QuestionForm {
    compiled: CompiledSchema,
    schema: Object,
}

const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The problem of a form or a field, to be read after its name.
type FieldProblem = String;

impl QuestionForm {
    /// Validates the schema of a form.
    ///
    /// # Errors
    ///
    /// The first part that clients would not show, or that asks for a secret.
    pub fn new(schema: &Object) -> Result<Self, String> {
        let bytes = serde_json::to_string(schema).map_or(usize::MAX, |text| text.len());
        if bytes > BYTES {
            return Err(format!("its schema has {bytes} bytes, more than {BYTES}"));
        }
        let mut out = Object::new();
        let mut fields = Object::new();
        for (key, value) in schema {
            match (key.as_str(), value) {
                ("type", Value::String(kind)) if kind == "object" => {}
                ("type", _) => return Err("its type must be object".to_owned()),
                // Clients read all forms by the same draft.
                ("$schema", Value::String(_)) => {}
                ("title" | "description", value) => {
                    let shown = read_text(key, value).map_err(|problem| format!("it {problem}"))?;
                    out.insert(key.clone(), shown);
                }
                ("additionalProperties", Value::Bool(_)) => {}
                ("required", Value::Array(names)) if names.iter().all(Value::is_string) => {
                    // Clients show these names even if there is no such field.
                    for name in names.iter().filter_map(Value::as_str) {
                        check_name(name).map_err(|problem| format!("a name that it requires {problem}"))?;
                    }
                    out.insert(key.clone(), value.clone());
                }
                ("properties", Value::Object(given)) => {
                    if given.len() > FIELDS {
                        return Err(format!("it has {} fields, more than {FIELDS}", given.len()));
                    }
                    for (name, given) in given {
                        let read = check_name(name).and_then(|()| read_field(name, given));
                        let read =
                            read.map_err(|problem| format!("its field `{}` {problem}", show::name(name)))?;
                        fields.insert(name.clone(), read.into());
                    }
                }
                ("properties", _) => return Err("its properties are not an object".to_owned()),
                ("required", _) => return Err("its `required` is not a list of names".to_owned()),
                (other, _) => {
                    return Err(format!("it has `{}`, which clients do not show", show::name(other)));
                }
            }
        }
        out.insert("type".into(), "object".into());
        out.insert("properties".into(), fields.into());
        let compiled = CompiledSchema::compile(&Value::Object(out.clone()))?;
        Ok(Self { compiled, schema: out })
    }

    /// The form as clients show it, with sanitised texts.
    pub fn schema(&self) -> &Object {
        &self.schema
    }

    /// Checks an answer.
    ///
    /// # Errors
    ///
    /// The first mismatch, without the person's input.
    pub fn check(&self, answer: &Value) -> Result<(), String> {
        let Value::Object(members) = answer else { return Err("it is not an object".to_owned()) };
        let fields = self.schema.get("properties").and_then(Value::as_object);
        if let Some(other) =
            members.keys().find(|name| !fields.is_some_and(|fields| fields.contains_key(*name)))
        {
            return Err(format!("there is no field `{}`", show::name(other)));
        }
        match self.compiled.validator.iter_errors(answer).next() {
            None => Ok(()),
            Some(error) => {
                let path = error.instance_path().to_string();
                let keyword = error.schema_path().to_string();
                let keyword =
                    keyword.rsplit('/').find(|part| part.parse::<u32>().is_err()).unwrap_or_default();
                let at = if path.is_empty() { "a field".to_owned() } else { format!("`{}`", &path[1..]) };
                Err(match keyword {
                    "required" => "a required field is missing".to_owned(),
                    keyword => format!("{at} does not fit `{keyword}`"),
                })
            }
        }
    }
}

/// Reads one member of a field's schema; none for unknown members.
type MemberReader = fn(&str, &Value) -> Option<Result<Value, FieldProblem>>;

/// The reader for fields of a type; none for types that clients do not show.
fn member_reader(kind: &str) -> Option<MemberReader> {
    Some(match kind {
        "string" => |key, value| {
            Some(match key {
                "minLength" | "maxLength" => read_length(value),
                "format" => read_format(value),
                "enum" => read_words(value),
                "enumNames" => read_titles(value),
                "oneOf" => read_choices(value),
                "default" => read_word(value),
                _ => return None,
            })
        },
        "number" => |key, value| {
            Some(match key {
                "minimum" | "maximum" | "default" if value.is_number() => Ok(value.clone()),
                "minimum" | "maximum" | "default" => Err("has a bound that is not a number".to_owned()),
                _ => return None,
            })
        },
        "integer" => |key, value| {
            Some(match key {
                "minimum" | "maximum" | "default" if value.is_i64() => Ok(value.clone()),
                "minimum" | "maximum" | "default" => Err("has a bound that is not an integer".to_owned()),
                _ => return None,
            })
        },
        "boolean" => |key, value| {
            Some(match key {
                "default" if value.is_boolean() => Ok(value.clone()),
                "default" => Err("has a default that is not true or false".to_owned()),
                _ => return None,
            })
        },
        "array" => |key, value| {
            Some(match key {
                "minItems" | "maxItems" => read_length(value),
                "items" => read_items(value),
                "default" => read_words(value),
                _ => return None,
            })
        },
        _ => return None,
    })
}

fn read_field(name: &str, field: &Value) -> Result<Object, FieldProblem> {
    let Value::Object(field) = field else { return Err("has no schema".to_owned()) };
    let kind = field.get("type").and_then(Value::as_str).unwrap_or_default();
    let marked = field.get("writeOnly") == Some(&Value::Bool(true))
        || field.get("format").is_some_and(|format| format == "password");
    if marked || names_secret(name) {
        return Err(SECRET.to_owned());
    }
    let Some(reader) = member_reader(kind) else {
        return Err("must be of type string, number, integer, boolean, or array of choices".to_owned());
    };
    let mut out = Object::new();
    for (key, value) in field {
        let read = match key.as_str() {
            "type" => Ok(value.clone()),
            "title" | "description" => read_text(key, value),
            // Some generators write optional fields this way.
            "default" if value.is_null() => continue,
            key => match reader(key, value) {
                Some(read) => read,
                None => Err(format!("says `{}`, which clients do not show", show::name(key))),
            },
        };
        out.insert(key.clone(), read?);
    }
    let choices = out.contains_key("enum") || out.contains_key("oneOf");
    if choices && ["minLength", "maxLength", "format"].iter().any(|key| out.contains_key(*key)) {
        return Err("has choices and bounds, of which clients show one".to_owned());
    }
    if kind == "array" && !out.contains_key("items") {
        return Err(NO_CHOICES.to_owned());
    }
    // Only free text can contain a secret.
    let texts = ["title", "description"].iter().filter_map(|key| out.get(*key)?.as_str());
    if kind == "string" && !choices && texts.into_iter().any(asks_for_secret) {
        return Err(SECRET.to_owned());
    }
    Ok(out)
}

const SECRET: &str = "asks for a secret, which a form must not";
const NO_CHOICES: &str = "is a list, but not of choices";

fn check_name(name: &str) -> Result<(), FieldProblem> {
    match name.len() <= VALUE && is_clean(name) && !name.contains(['\n', '\r', '\t', '\u{2028}', '\u{2029}'])
    {
        true => Ok(()),
        false => Err(HIDES.to_owned()),
    }
}

pub(super) const HIDES: &str =
    "has a name or a value with control or invisible characters, or of more than 500 bytes";

/// Reads a text for the person: one line, without invisible characters.
fn read_text(key: &str, value: &Value) -> Result<Value, FieldProblem> {
    let most = if key == "title" { TITLE } else { DESCRIPTION };
    let text = value.as_str().ok_or_else(|| format!("has a `{key}` that is not a string"))?;
    Ok(sanitise_line(text, most).into())
}

/// Reads a value that answers are compared with, so it is taken unchanged or refused.
fn read_word(value: &Value) -> Result<Value, FieldProblem> {
    check_name(value.as_str().ok_or("has a choice or a default that is not a string")?)?;
    Ok(value.clone())
}

/// Reads a list of choices.
fn read_list(
    value: &Value,
    read: impl Fn(&Value) -> Result<Value, FieldProblem>,
) -> Result<Value, FieldProblem> {
    match value {
        Value::Array(values) if values.len() > CHOICES => {
            Err(format!("has {} choices, more than {CHOICES}", values.len()))
        }
        Value::Array(values) => values.iter().map(read).collect(),
        _ => Err("has choices that are not a list".to_owned()),
    }
}

fn read_words(value: &Value) -> Result<Value, FieldProblem> {
    read_list(value, read_word)
}

fn read_titles(value: &Value) -> Result<Value, FieldProblem> {
    read_list(value, |value| read_text("title", value))
}

/// Reads choices with titles.
fn read_choices(value: &Value) -> Result<Value, FieldProblem> {
    read_list(value, |choice| {
        let Value::Object(choice) = choice else {
            return Err("has a choice that is not an object".to_owned());
        };
        let mut out = Object::new();
        for (key, value) in choice {
            let read = match key.as_str() {
                "const" => read_word(value),
                "title" => read_text("title", value),
                other => Err(format!("says `{}` of a choice, which clients do not show", show::name(other))),
            };
            out.insert(key.clone(), read?);
        }
        if out.contains_key("const") {
            Ok(out.into())
        } else {
            Err("has a choice without `const`".to_owned())
        }
    })
}

/// Reads the `items` of a list.
fn read_items(value: &Value) -> Result<Value, FieldProblem> {
    let Value::Object(items) = value else { return Err(NO_CHOICES.to_owned()) };
    let mut out = Object::new();
    for (key, value) in items {
        let read = match (key.as_str(), value) {
            ("type", Value::String(kind)) if kind == "string" => Ok(value.clone()),
            ("type", _) => Err(NO_CHOICES.to_owned()),
            ("title", value) => read_text("title", value),
            ("enum", value) => read_words(value),
            ("anyOf", value) => read_choices(value),
            (other, _) => {
                Err(format!("says `{}` of its items, which clients do not show", show::name(other)))
            }
        };
        out.insert(key.clone(), read?);
    }
    let has_choices = out.contains_key("enum") && out.contains_key("type") || out.contains_key("anyOf");
    if has_choices { Ok(out.into()) } else { Err(NO_CHOICES.to_owned()) }
}

fn read_length(value: &Value) -> Result<Value, FieldProblem> {
    match value.as_u64() {
        Some(length) if length <= u32::MAX.into() => Ok(value.clone()),
        _ => Err("has a length that is not an integer".to_owned()),
    }
}

fn read_format(value: &Value) -> Result<Value, FieldProblem> {
    match value.as_str() {
        Some(format) if FORMATS.contains(&format) => Ok(value.clone()),
        _ => Err(format!("has a format that clients do not know ({})", FORMATS.join(", "))),
    }
}
