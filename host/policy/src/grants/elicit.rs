//! `elicit`: questions to the user.

use loggia_facade::Effect;

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants};
use crate::{
    document::{field::Field, key::Key},
    model::Policy,
};

/// `grants.elicit`.
pub(super) struct ElicitGrant;

const KEY: Key = Key {
    name: "elicit",
    kind: "true or false",
    default: Some("false"),
    means: "whether the plugin may ask the user questions; an upstream, also to open links. Workflows may by default",
    example: "true",
    inner: &[],
};

impl Grant for ElicitGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        reading.granted.elicit = field.flag(reading.problems);
    }

    fn is_given(&self, policy: &Policy) -> bool {
        policy.rules.elicit
    }

    fn covers(&self, policy: &Policy, _want: &WantedGrant<'_>) -> bool {
        policy.rules.elicit
    }

    fn explain(&self, policy: &Policy, _worst: Effect) -> Vec<String> {
        let text = "ask the user questions";
        policy.rules.elicit.then(|| text.to_owned()).into_iter().collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        wants.has(KEY.name).then(|| "true".to_owned())
    }
}
