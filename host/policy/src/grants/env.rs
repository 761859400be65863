//! `env`: environment variables that the operator gives to a plugin.

use std::collections::BTreeMap;

use loggia_facade::Effect;

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants, join, toml_table_of};
use crate::{
    document::{field::Field, key::Key, problem::Problems},
    model::Policy,
};

/// `grants.env`.
pub(super) struct EnvGrant;

const KEY: Key = Key {
    name: "env",
    kind: "table of strings",
    default: Some("{}"),
    means: "environment variables of the plugin. It sees none of the host's; `${VAR}` passes one on",
    example: r#"{ LANG = "en_US.UTF-8", TZ = "${TZ:-UTC}" }"#,
    inner: &[],
};

fn read(field: &Field<'_>, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    for (name, field) in field.entries(problems) {
        let Some(text) = field.text(problems) else { continue };
        if name.is_empty() || name.contains(['=', '\0']) {
            field.report("is not a valid name of an environment variable", problems);
        } else if text.value.contains('\0') {
            field.report("contains a NUL character", problems);
        } else {
            env.insert(name.to_owned(), text.value.clone());
        }
    }
    env
}

impl Grant for EnvGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        reading.granted.grants.env = read(field, reading.problems);
    }

    fn is_given(&self, policy: &Policy) -> bool {
        !policy.grants.env.is_empty()
    }

    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool {
        let env = &policy.grants.env;
        !env.is_empty() && want.words().all(|name| env.contains_key(name))
    }

    fn explain(&self, policy: &Policy, _worst: Effect) -> Vec<String> {
        let names = policy.grants.env.keys();
        let text = self.is_given(policy).then(|| format!("read the environment variables {}", join(names)));
        text.into_iter().collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        let names = wants.wanted(KEY.name).flat_map(|want| want.words());
        wants.has(KEY.name).then(|| toml_table_of(names))
    }
}
