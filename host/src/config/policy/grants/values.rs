//! `env` and `config`: values that the operator gives to a plugin.

use std::collections::BTreeMap;

use serde_json::{Number, Value as Json};

use crate::config::policy::{
    field::Field,
    key::Key,
    problem::Problems,
    tree::{Node, Table, Value},
};

/// The key `env`.
pub const ENV: Key = Key {
    name: "env",
    kind: "table of strings",
    default: Some("{}"),
    means: "its environment variables. It sees none of the host's own; `${VAR}` hands one on",
    example: r#"{ LANG = "en_US.UTF-8", TZ = "${TZ:-UTC}" }"#,
    inner: &[],
};

/// The key `config`.
pub const CONFIG: Key = Key {
    name: "config",
    kind: "table",
    default: Some("{}"),
    means: "its settings, by names of its own: any TOML, which it reads as JSON; dates become strings",
    example: r#"{ region = "eu", limits = { pages = 5 } }"#,
    inner: &[],
};

/// Reads `env`.
pub fn env(field: &Field<'_>, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    for (name, field) in field.entries(problems) {
        let Some(text) = field.text(problems) else { continue };
        if name.is_empty() || name.contains(['=', '\0']) {
            field.wrong("is no name of an environment variable", problems);
        } else if text.value.contains('\0') {
            field.wrong("holds a character that no environment variable can hold", problems);
        } else {
            env.insert(name.to_owned(), text.value.clone());
        }
    }
    env
}

/// Reads `config`.
pub fn config(field: &Field<'_>, problems: &mut Problems) -> BTreeMap<String, Json> {
    let mut config = BTreeMap::new();
    for (name, field) in field.entries(problems) {
        match json(field.value()) {
            Ok(value) => {
                config.insert(name.to_owned(), value);
            }
            Err(Unfit::Number) => field.wrong("holds a number that JSON does not have", problems),
            Err(Unfit::Told) => {}
        }
    }
    config
}

/// Why a value is no JSON.
enum Unfit {
    /// It is not finite.
    Number,
    /// A problem was told of it already.
    Told,
}

fn json(value: &Value) -> Result<Json, Unfit> {
    Ok(match value {
        Value::Text(text) => Json::String(text.value.clone()),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => Json::Number(Number::from_f64(*number).ok_or(Unfit::Number)?),
        Value::Flag(flag) => Json::Bool(*flag),
        Value::Date(date) => Json::String(date.clone()),
        Value::List(items) => items.iter().map(|Node { value, .. }| json(value)).collect::<Result<_, _>>()?,
        Value::Table(Table(entries)) => {
            let entries = entries.iter().map(|(key, _, node)| Ok((key.clone(), json(&node.value)?)));
            Json::Object(entries.collect::<Result<_, _>>()?)
        }
        Value::Broken => return Err(Unfit::Told),
    })
}
