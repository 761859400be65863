//! `store`: durable state of the plugin.

use loggia_facade::Effect;
use loggia_text::units;

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants, toml_text};
use crate::{
    document::{
        field::Field,
        key::{Key, names},
        problem::Problems,
    },
    model::Policy,
};

/// Default quota in bytes.
const QUOTA: u64 = 16 << 20;
/// Maximum quota in bytes.
const MAX_QUOTA: u64 = 1 << 30;

/// `grants.store`.
pub(super) struct StoreGrant;

const KEY: Key = Key {
    name: "store",
    kind: "true, false or table",
    default: Some("false"),
    means: "durable state of the plugin, stored by the host; `true` grants the default quota",
    example: r#"{ quota = "64MiB" }"#,
    inner: &[Key {
        name: "quota",
        kind: "size",
        default: Some("\"16MiB\""),
        means: "maximum size of the state; at most 1GiB",
        example: "\"64MiB\"",
        inner: &[],
    }],
};

fn read(field: &Field<'_>, problems: &mut Problems) -> Option<u64> {
    if !field.is_table() {
        let expected = "true, false, or a table like { quota = \"16MiB\" }";
        return field.flag_as(expected, problems)?.then_some(QUOTA);
    }
    let fields = field.fields(names(KEY.inner), problems)?;
    let Some(field) = fields.get("quota") else { return Some(QUOTA) };
    let text = field.text_as("a size in quotes, like \"16MiB\"", problems)?;
    match units::parse_bytes(&text.value) {
        Ok(bytes) if (1..=MAX_QUOTA).contains(&bytes) => return Some(bytes),
        Ok(_) => {
            let max = units::format_bytes(MAX_QUOTA);
            let reason = format!("must be greater than 0 and at most {max} (got {})", text.quoted());
            field.report(reason, problems);
        }
        Err(reason) => field.report(format!("({}) {reason}", text.quoted()), problems),
    }
    None
}

/// Returns the quota that a plugin requests, if it is a size that can be granted.
fn wanted_quota(want: &WantedGrant<'_>) -> Option<u64> {
    let quota = want.word().and_then(|word| units::parse_bytes(word).ok());
    quota.filter(|bytes| (1..=MAX_QUOTA).contains(bytes))
}

impl Grant for StoreGrant {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn read(&self, field: &Field<'_>, reading: &mut GrantReading<'_>) {
        reading.granted.grants.store = read(field, reading.problems);
    }

    fn is_given(&self, policy: &Policy) -> bool {
        policy.grants.store.is_some()
    }

    fn covers(&self, policy: &Policy, want: &WantedGrant<'_>) -> bool {
        policy.grants.store.is_some_and(|quota| quota >= wanted_quota(want).unwrap_or(0))
    }

    fn explain(&self, policy: &Policy, worst: Effect) -> Vec<String> {
        let text = policy.grants.store.map(|quota| match worst {
            Effect::Read => "read its durable state; none of its actions changes it".to_owned(),
            _ => format!("store up to {} of durable state", units::format_bytes(quota)),
        });
        text.into_iter().collect()
    }

    fn draft(&self, wants: &WantedGrants<'_>) -> Option<String> {
        wants.has(KEY.name).then(|| {
            match wants.wanted(KEY.name).filter_map(|want| wanted_quota(&want)).max() {
                Some(quota) => format!("{{ quota = {} }}", toml_text(&units::format_bytes(quota))),
                None => "true".to_owned(),
            }
        })
    }
}
