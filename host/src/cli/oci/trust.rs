//! `[trust]` of the settings as rules.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, anyhow};
use loggia_oci::{TrustRule, VerifyingKey};
use loggia_policy::settings::{Settings, Trust};

/// Reads the rules of the settings, and their keys. A rule that cannot be read is an error: it might be the one that refuses.
///
/// # Errors
///
/// If a repository or a key is invalid.
pub fn read_rules(settings: Option<&Settings>) -> anyhow::Result<Vec<TrustRule>> {
    let none = BTreeMap::new();
    let tables = settings.map_or(&none, |settings| &settings.trust);
    tables.iter().map(|(name, table)| read_rule(name, table)).collect()
}

fn read_rule(name: &str, Trust { from, key }: &Trust) -> anyhow::Result<TrustRule> {
    let from = from
        .iter()
        .map(|pattern| pattern.parse().map_err(|why| anyhow!("[trust.{name}]: {pattern:?} in `from` {why}")));
    Ok(TrustRule { name: name.to_owned(), from: from.collect::<anyhow::Result<_>>()?, key: read_key(key)? })
}

fn read_key(file: &Path) -> anyhow::Result<VerifyingKey> {
    let pem = fs::read(file).with_context(|| format!("failed to read the key {}", file.display()))?;
    VerifyingKey::from_pem(&pem).map_err(|why| anyhow!("{} {why}", file.display()))
}
