//! `store`: durable state of the plugin.

use std::ops::RangeInclusive;

use loggia_facade::Effect;
use loggia_text::units;

use super::grant::{Grant, GrantReading, WantedGrant, WantedGrants, toml_text};
use crate::{
    document::{
        field::Field,
        key::{Key, names},
        problem::Problems,
    },
    model::{Policy, StateGrant},
};

/// Default quota in bytes.
const QUOTA: u64 = 16 << 20;
/// Maximum quota in bytes.
const MAX_QUOTA: u64 = 1 << 30;
const QUOTAS: RangeInclusive<u64> = 1..=MAX_QUOTA;

/// Spaces, and whether each caller has one.
const SPACES: &[(&str, bool)] = &[("shared", false), ("caller", true)];

/// `grants.store`.
pub(super) struct StoreGrant;

const KEY: Key = Key {
    name: "store",
    kind: "true, false or table",
    default: Some("false"),
    means: "durable state of the plugin, stored by the host; `true` grants the default quota",
    example: r#"{ quota = "64MiB" }"#,
    inner: &[
        Key {
            name: "quota",
            kind: "size",
            default: Some("\"16MiB\""),
            means: "maximum size of the state of all callers; at most 1GiB",
            example: "\"64MiB\"",
            inner: &[],
        },
        Key {
            name: "space",
            kind: "word",
            default: Some("\"shared\""),
            means: "`\"shared\"`: one state for all callers, and each caller's own where the plugin asks for it; \
                    `\"caller\"`: each caller's own only, so that no caller reads the state of another. Anonymous callers \
                    have none then. Changing it does not move what is stored",
            example: "\"caller\"",
            inner: &[],
        },
    ],
};

fn read(field: &Field<'_>, problems: &mut Problems) -> Option<StateGrant> {
    if !field.is_table() {
        let expected = "true, false, or a table like { quota = \"16MiB\" }";
        let granted = StateGrant { quota: QUOTA, is_per_caller: false };
        return field.flag_as(expected, problems)?.then_some(granted);
    }
    let fields = field.fields(names(KEY.inner), problems)?;
    let quota = match fields.get("quota") {
        Some(field) => read_quota(&field, problems),
        None => Some(QUOTA),
    };
    let is_per_caller = match fields.get("space") {
        Some(field) => field.word(SPACES, problems)?,
        None => false,
    };
    Some(StateGrant { quota: quota?, is_per_caller })
}

fn read_quota(field: &Field<'_>, problems: &mut Problems) -> Option<u64> {
    let text = field.text_as("a size in quotes, like \"16MiB\"", problems)?;
    match units::parse_bytes(&text.value) {
        Ok(bytes) if QUOTAS.contains(&bytes) => return Some(bytes),
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
    quota.filter(|bytes| QUOTAS.contains(bytes))
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
        policy.grants.store.is_some_and(|granted| granted.quota >= wanted_quota(want).unwrap_or(0))
    }

    fn explain(&self, policy: &Policy, worst: Effect) -> Vec<String> {
        let text = policy.grants.store.map(|granted| {
            let space = if granted.is_per_caller { ", each caller's own" } else { "" };
            match worst {
                Effect::Read => format!("read its durable state{space}; none of its actions changes it"),
                _ => format!("store up to {} of durable state{space}", units::format_bytes(granted.quota)),
            }
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
