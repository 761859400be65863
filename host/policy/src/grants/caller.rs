//! `caller`: an opaque id of the caller.

use loggia_facade::Effect;

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants};
use crate::{
    document::{field::Field, key::Key},
    model::Policy,
};

/// `grants.caller`.
pub(super) struct CallerGrant;

const KEY: Key = Key {
    name: "caller",
    kind: "true or false",
    default: Some("false"),
    means: "whether the plugin may read an opaque caller id. It can tell whether two calls have the same caller, but \
            not who that is",
    example: "true",
    inner: &[],
};

impl Grant for CallerGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        reading.granted.grants.caller = field.flag(reading.problems).unwrap_or_default();
    }

    fn is_given(&self, policy: &Policy) -> bool {
        policy.grants.caller
    }

    fn covers(&self, policy: &Policy, _want: &WantedGrant<'_>) -> bool {
        policy.grants.caller
    }

    fn explain(&self, policy: &Policy, _worst: Effect) -> Vec<String> {
        let text = "distinguish callers by an opaque id";
        policy.grants.caller.then(|| text.to_owned()).into_iter().collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        wants.has(KEY.name).then(|| "true".to_owned())
    }
}
