//! `config`: settings that the operator gives to a plugin.

use loggia_facade::Effect;

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants, join, toml_table_of};
use crate::{
    document::{field::Field, json::read_json_table, key::Key},
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

impl Grant for ConfigGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        reading.granted.grants.config = read_json_table(field, reading.problems);
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
