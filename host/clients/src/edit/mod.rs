//! Edits of a configuration file: one entry is put or removed, and no other byte changes but what separates it from its neighbours.
//!
//! | file | concept |
//! |---|---|
//! | `fault` | why a text cannot be edited |
//! | `lines` | lines and positions |
//! | `json`, `toml`, `yaml` | one format each |
//! | `yaml_tree` | YAML as JSON, with the lines of keys |
//!
//! Each edit is read again: what it says must be what it said before, and the entry.

mod fault;
mod json;
mod lines;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;
mod yaml_tree;

use serde_json::{Map, Value};

pub use self::fault::{EditFault, SyntaxFault};
use super::facts::FileSyntax;

/// Reads a whole file. An empty file is an empty object.
///
/// # Errors
///
/// If it is not of this format.
pub fn read_config(syntax: FileSyntax, text: &str) -> Result<Value, SyntaxFault> {
    match syntax {
        FileSyntax::Json | FileSyntax::Jsonc => json::read(text),
        FileSyntax::Toml => toml::read(text),
        FileSyntax::Yaml => yaml_tree::read(text),
    }
}

/// Puts an entry: in the place of the one with its name, or after the others.
///
/// # Errors
///
/// If the file is not of this format, or has a form in which an entry cannot be put.
pub fn put_entry(
    syntax: FileSyntax,
    text: &str,
    key: &str,
    name: &str,
    entry: &Map<String, Value>,
) -> Result<String, EditFault> {
    let mut expected = read_config(syntax, text)?;
    let after = match syntax {
        FileSyntax::Json | FileSyntax::Jsonc => json::put(text, key, name, entry),
        FileSyntax::Toml => toml::put(text, key, name, entry),
        FileSyntax::Yaml => yaml::put(text, key, name, entry),
    }?;
    let servers = expected.as_object_mut().map(|root| {
        let servers = root.entry(key).or_insert(Value::Null);
        if servers.is_null() {
            *servers = Value::Object(Map::new());
        }
        servers
    });
    if let Some(servers) = servers.and_then(Value::as_object_mut) {
        servers.insert(name.to_owned(), Value::Object(entry.clone()));
    }
    verify(syntax, after, expected, key)
}

/// Removes an entry, which is there.
///
/// # Errors
///
/// As [`put_entry`].
pub fn remove_entry(syntax: FileSyntax, text: &str, key: &str, name: &str) -> Result<String, EditFault> {
    let mut expected = read_config(syntax, text)?;
    let after = match syntax {
        FileSyntax::Json | FileSyntax::Jsonc => json::remove(text, key, name),
        FileSyntax::Toml => toml::remove(text, key, name),
        FileSyntax::Yaml => yaml::remove(text, key, name),
    }?;
    if let Some(servers) = expected.get_mut(key).and_then(Value::as_object_mut) {
        servers.shift_remove(name);
    }
    verify(syntax, after, expected, key)
}

/// Compares what a text says with what it should say. No servers, and no list of servers, are the same.
fn verify(syntax: FileSyntax, after: String, mut expected: Value, key: &str) -> Result<String, EditFault> {
    let mut read = read_config(syntax, &after).map_err(|_| EditFault::Lossy)?;
    for root in [&mut expected, &mut read].into_iter().filter_map(Value::as_object_mut) {
        let is_empty = |servers: &Value| servers.is_null() || servers.as_object().is_some_and(Map::is_empty);
        if root.get(key).is_some_and(is_empty) {
            root.shift_remove(key);
        }
    }
    if read == expected { Ok(after) } else { Err(EditFault::Lossy) }
}
