//! The policy of a plugin with the overrides of a cases file.

use loggia_facade::Object;
use loggia_schema::nearest;
use serde_json::Value;
use toml::Table;

/// Sections of a policy.
pub(super) const SECTIONS: [&str; 4] = ["grants", "limits", "actions", "expose"];

/// Error of merging.
#[derive(Debug, thiserror::Error)]
pub enum PolicyMergeError {
    /// The policy is not TOML.
    #[error("failed to parse the plugin's policy: {0}")]
    Policy(#[from] toml::de::Error),
    /// The merged policy cannot be written as TOML.
    #[error("failed to write the policy with the overrides of the cases file: {0}")]
    Merged(#[from] toml::ser::Error),
}

/// Checks that the overrides name sections or grants of a policy.
pub(super) fn check_overrides(overrides: &Object) -> Result<(), String> {
    let grants: Vec<&str> = loggia_policy::grants::names().collect();
    let is_known = |key: &str| SECTIONS.contains(&key) || grants.contains(&key);
    let Some(unknown) = overrides.keys().find(|key| !is_known(key)) else {
        let flat = SECTIONS.iter().find(|name| overrides.get(**name).is_some_and(|value| !value.is_object()));
        return flat.map_or(Ok(()), |name| Err(format!("`policy.{name}` must be an object")));
    };
    let near = nearest(unknown, SECTIONS.into_iter().chain(grants.iter().copied()));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(format!("`policy.{unknown}` is neither a section of a policy nor a grant{near}"))
}

/// Merges overrides into the text of a policy. A key outside of a section is a grant; null removes a key.
///
/// # Errors
///
/// If the policy is not TOML, or the overrides contain what TOML lacks.
pub fn merge_policy(policy: &str, overrides: &Object) -> Result<String, PolicyMergeError> {
    let mut table: Table = policy.parse()?;
    for (key, value) in overrides {
        match value {
            Value::Object(members) if SECTIONS.contains(&key.as_str()) => {
                merge_table(section(&mut table, key), members);
            }
            value => merge_value(section(&mut table, SECTIONS[0]), key, value),
        }
    }
    Ok(toml::to_string(&table)?)
}

/// Returns a section. One that is no table is replaced, since the overrides are the tester's word.
fn section<'a>(table: &'a mut Table, name: &str) -> &'a mut Table {
    let entry = table.entry(name).or_insert_with(|| Table::new().into());
    if !entry.is_table() {
        *entry = Table::new().into();
    }
    match entry {
        toml::Value::Table(table) => table,
        _ => unreachable!("it was made a table"),
    }
}

fn merge_table(into: &mut Table, members: &Object) {
    members.iter().for_each(|(key, value)| merge_value(into, key, value));
}

fn merge_value(into: &mut Table, key: &str, value: &Value) {
    match (into.get_mut(key), value) {
        (_, Value::Null) => drop(into.remove(key)),
        (Some(toml::Value::Table(inner)), Value::Object(members)) => merge_table(inner, members),
        (_, value) => drop(into.insert(key.to_owned(), to_toml(value))),
    }
}

/// Converts JSON to TOML, which has no null.
fn to_toml(value: &Value) -> toml::Value {
    match value {
        Value::Null => "".into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(to_toml).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            let mut table = Table::new();
            merge_table(&mut table, members);
            table.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn overrides_replace_and_remove_keys() {
        let policy = "[grants]\nstore = { quota = \"1MiB\" }\nhttp = [\"https://a.example\"]\n[limits]\nmemory = \"8MiB\"\n";
        let check = |overrides: Value, expected: &str| {
            assert_eq!(merge_policy(policy, &object(overrides)).unwrap(), expected);
        };
        check(
            json!({"elicit": true, "http": null, "limits": {"concurrency": 1}}),
            "[grants]\nelicit = true\n\n[grants.store]\nquota = \"1MiB\"\n\n[limits]\nconcurrency = 1\nmemory = \"8MiB\"\n",
        );
        check(
            json!({"store": true, "actions": {"deny": ["purge"]}}),
            "[actions]\ndeny = [\"purge\"]\n\n[grants]\nhttp = [\"https://a.example\"]\nstore = true\n\n[limits]\nmemory = \"8MiB\"\n",
        );
        assert!(merge_policy("[grants", &Object::new()).is_err());
    }

    #[test]
    fn unknown_overrides_are_refused() {
        let check = |overrides: Value, expected: Result<(), &str>| {
            assert_eq!(check_overrides(&object(overrides)), expected.map_err(str::to_owned));
        };
        check(json!({"store": true, "limits": {}}), Ok(()));
        let near = "`policy.stor` is neither a section of a policy nor a grant; did you mean `store`?";
        check(json!({"stor": true}), Err(near));
        check(json!({"limits": 1}), Err("`policy.limits` must be an object"));
    }
}
