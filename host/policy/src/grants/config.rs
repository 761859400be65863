//! `config`: settings that the operator gives to a plugin.

use std::collections::BTreeMap;

use loggia_facade::Effect;
use serde_json::{Number, Value as Json};

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants, join, toml_table_of};
use crate::{
    document::{
        field::Field,
        key::Key,
        problem::Problems,
        tree::{Node, Table, Value},
    },
    model::Policy,
};

/// `grants.config`.
pub(super) struct ConfigGrant;

const KEY: Key = Key {
    name: "config",
    kind: "table",
    default: Some("{}"),
    means: "settings of the plugin: any TOML, which it reads as JSON; dates become strings",
    example: r#"{ region = "eu", limits = { pages = 5 } }"#,
    inner: &[],
};

fn read(field: &Field<'_>, problems: &mut Problems) -> BTreeMap<String, Json> {
    let mut config = BTreeMap::new();
    for (name, field) in field.entries(problems) {
        match to_json(field.value()) {
            Ok(value) => {
                config.insert(name.to_owned(), value);
            }
            Err(NotJson::NonFinite) => {
                field.report("contains `nan` or `inf`, which JSON cannot represent", problems)
            }
            Err(NotJson::Invalid) => {}
        }
    }
    config
}

/// Reason why a value cannot be converted to JSON.
enum NotJson {
    /// It contains a number that is infinite or NaN.
    NonFinite,
    /// It contains an invalid value, which was reported already.
    Invalid,
}

fn to_json(value: &Value) -> Result<Json, NotJson> {
    Ok(match value {
        Value::Text(text) => Json::String(text.value.clone()),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => Json::Number(Number::from_f64(*number).ok_or(NotJson::NonFinite)?),
        Value::Flag(flag) => Json::Bool(*flag),
        Value::Date(date) => Json::String(date.clone()),
        Value::List(items) => {
            items.iter().map(|Node { value, .. }| to_json(value)).collect::<Result<_, _>>()?
        }
        Value::Table(Table(entries)) => {
            let entries = entries.iter().map(|(key, _, node)| Ok((key.clone(), to_json(&node.value)?)));
            Json::Object(entries.collect::<Result<_, _>>()?)
        }
        Value::Invalid => return Err(NotJson::Invalid),
    })
}

impl Grant for ConfigGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        reading.granted.grants.config = read(field, reading.problems);
    }

    fn is_given(&self, policy: &Policy) -> bool {
        !policy.grants.config.is_empty()
    }

    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool {
        let config = &policy.grants.config;
        !config.is_empty() && want.words().all(|name| config.contains_key(name))
    }

    fn explain(&self, policy: &Policy, _worst: Effect) -> Vec<String> {
        let names = policy.grants.config.keys();
        let text = self.is_given(policy).then(|| format!("read the settings {}", join(names)));
        text.into_iter().collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        let names = wants.wanted(KEY.name).flat_map(|want| want.words());
        wants.has(KEY.name).then(|| toml_table_of(names))
    }
}
