//! Typed access to YAML nodes. Mistakes are collected, each with its place.

use loggia_facade::Object;
use loggia_schema::nearest;
use loggia_text::mention;
use loggia_workflow::yaml::{MapEntry, YamlNode, YamlValue};
use serde_json::Value;

use super::problem::CaseProblem;

/// Longest excerpt of a file in a message, in characters.
const EXCERPT: usize = 64;

/// Reads nodes and collects problems.
#[derive(Default)]
pub(super) struct NodeReader {
    pub problems: Vec<CaseProblem>,
}

impl NodeReader {
    pub(super) fn report(&mut self, problem: CaseProblem) {
        self.problems.push(problem);
    }

    fn wrong_kind(&mut self, node: &YamlNode, path: &str, wanted: &str) {
        self.report(CaseProblem::of(node, format!("`{path}` must be {wanted}, not {}", node.kind_name())));
    }

    /// Reads an object with these keys; reports others with the nearest one.
    pub(super) fn fields<'a>(
        &mut self,
        node: &'a YamlNode,
        path: &str,
        known: &[&str],
    ) -> Option<&'a [MapEntry]> {
        let entries = self.entries(node, path)?;
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let place = if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") };
            let message = format!("{place} has an unknown key `{}`", mention(&entry.key, EXCERPT));
            let problem = CaseProblem::at(entry.line, entry.column, message);
            self.report(match nearest(&entry.key, known.iter().copied()) {
                Some(near) => problem.hint(format!("did you mean `{near}`?")),
                None => problem.hint(format!("known keys: {}", known.join(", "))),
            });
        }
        Some(entries)
    }

    /// Reads an object with any keys.
    pub(super) fn entries<'a>(&mut self, node: &'a YamlNode, path: &str) -> Option<&'a [MapEntry]> {
        if let YamlValue::Map(entries) = &node.value {
            return Some(entries);
        }
        let path = if path.is_empty() { "the file" } else { path };
        self.wrong_kind(node, path, "an object");
        None
    }

    pub(super) fn items<'a>(&mut self, node: &'a YamlNode, path: &str) -> Option<&'a [YamlNode]> {
        if let YamlValue::List(items) = &node.value {
            return Some(items);
        }
        self.wrong_kind(node, path, "a list");
        None
    }

    /// Reads a text that is not empty.
    pub(super) fn text<'a>(&mut self, node: &'a YamlNode, path: &str) -> Option<&'a str> {
        match &node.value {
            YamlValue::Text(text) if !text.trim().is_empty() => Some(text),
            YamlValue::Text(_) => {
                self.report(CaseProblem::of(node, format!("`{path}` is empty")));
                None
            }
            _ => {
                self.wrong_kind(node, path, "a text");
                None
            }
        }
    }

    pub(super) fn flag(&mut self, node: &YamlNode, path: &str) -> Option<bool> {
        if let YamlValue::Plain(Value::Bool(flag), _) = &node.value {
            return Some(*flag);
        }
        self.wrong_kind(node, path, "true or false");
        None
    }

    /// Reads a number greater than zero.
    pub(super) fn count(&mut self, node: &YamlNode, path: &str) -> Option<u64> {
        let number = match &node.value {
            YamlValue::Plain(Value::Number(number), _) => number.as_u64().filter(|number| *number > 0),
            _ => None,
        };
        if number.is_none() {
            self.wrong_kind(node, path, "a whole number greater than 0");
        }
        number
    }

    pub(super) fn json(&mut self, node: &YamlNode) -> Option<Value> {
        node.to_json()
            .map_err(|(line, written)| {
                let message = format!("{} is a number that JSON lacks", mention(&written, EXCERPT));
                self.report(CaseProblem::at(line, 0, message));
            })
            .ok()
    }

    /// Reads an object as JSON.
    pub(super) fn object(&mut self, node: &YamlNode, path: &str) -> Option<Object> {
        self.entries(node, path)?;
        match self.json(node)? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// Finds the value of a key; null counts as absent.
pub(super) fn find<'a>(entries: &'a [MapEntry], key: &str) -> Option<&'a YamlNode> {
    entries.iter().find(|entry| entry.key == key && !entry.node.is_null()).map(|entry| &entry.node)
}
