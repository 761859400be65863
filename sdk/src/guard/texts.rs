//! Walks through the texts of JSON.

use crate::{Object, Value};

/// Replaces texts in a value: strings, and names of members. Where `replace` returns `None`, a text stays. Members that would get
/// the same name are numbered, so that none is lost. Returns the number of replaced texts.
pub fn replace_texts(value: &mut Value, mut replace: impl FnMut(&str) -> Option<String>) -> usize {
    walk(value, &mut replace)
}

/// Not generic, so that a guest contains it once.
pub(super) fn walk(value: &mut Value, replace: &mut dyn FnMut(&str) -> Option<String>) -> usize {
    match value {
        Value::String(text) => replace_one(text, replace),
        Value::Array(items) => items.iter_mut().map(|item| walk(item, replace)).sum(),
        Value::Object(members) => walk_members(members, replace),
        _ => 0,
    }
}

pub(super) fn walk_members(members: &mut Object, replace: &mut dyn FnMut(&str) -> Option<String>) -> usize {
    let mut replaced = members.values_mut().map(|value| walk(value, replace)).sum();
    let names: Vec<Option<String>> = members.keys().map(|name| replace(name)).collect();
    if names.iter().all(Option::is_none) {
        return replaced;
    }
    let mut renamed = Object::new();
    for ((name, value), other) in std::mem::take(members).into_iter().zip(names) {
        replaced += usize::from(other.is_some());
        let name = other.unwrap_or(name);
        let unused = unused_name(&renamed, name);
        renamed.insert(unused, value);
    }
    *members = renamed;
    replaced
}

fn unused_name(members: &Object, name: String) -> String {
    if !members.contains_key(&name) {
        return name;
    }
    let numbered = (2..).map(|number| format!("{name} {number}")).find(|name| !members.contains_key(name));
    numbered.unwrap_or(name)
}

pub(super) fn replace_one(text: &mut String, replace: &mut dyn FnMut(&str) -> Option<String>) -> usize {
    match replace(text) {
        Some(other) => {
            *text = other;
            1
        }
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn texts_and_names_are_replaced() {
        let replace = |text: &str| text.contains("key").then(|| "***".to_owned());
        for (before, after, replaced) in [
            (json!("a key"), json!("***"), 1),
            (json!(["key", 1, null, {"a": "key"}]), json!(["***", 1, null, {"a": "***"}]), 2),
            (json!({"key": 1, "b": 2}), json!({"***": 1, "b": 2}), 1),
            (json!({"key1": 1, "key2": "key", "***": 3}), json!({"***": 1, "*** 2": "***", "*** 3": 3}), 3),
            (json!({"a": 1}), json!({"a": 1}), 0),
        ] {
            let mut value = before.clone();
            assert_eq!((replace_texts(&mut value, replace), value), (replaced, after), "{before}");
        }
    }
}
