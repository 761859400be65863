//! Typed access to YAML nodes, with problems that name the place.

use std::time::Duration;

use loggia_facade::Object;
use serde_json::Value as Json;

use super::{
    duration::{DurationError, parse_duration},
    report::ParseReport,
};
use crate::{
    FileProblem,
    yaml::{MapEntry, YamlNode, YamlValue, excerpt},
};

/// YAML node with its path in the document.
#[derive(Debug, Clone)]
pub(crate) struct NodePlace<'a> {
    pub node: &'a YamlNode,
    pub path: String,
}

/// Object with named fields.
pub(crate) struct ObjectFields<'a> {
    entries: &'a [MapEntry],
    pub path: String,
    pub line: usize,
}

/// Joins a path and a field name.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Returns the subject of a message about a path.
pub(crate) fn subject(path: &str) -> String {
    if path.is_empty() { "the file".to_owned() } else { path.to_owned() }
}

impl<'a> NodePlace<'a> {
    pub(super) fn new(node: &'a YamlNode, path: impl Into<String>) -> Self {
        Self { node, path: path.into() }
    }

    /// Creates a problem at this place; the message starts with the path.
    pub(super) fn problem(&self, message: &str) -> FileProblem {
        FileProblem::new(self.node.line, &*self.path, format!("{} {message}", subject(&self.path)))
    }

    /// Creates the problem for a value of the wrong kind.
    fn wrong_kind(&self, wanted: &str) -> FileProblem {
        self.problem(&format!("must be {wanted}, not {}", self.node.kind_name()))
    }

    /// Reports a text where another kind is expected, with a hint for this common mistake. Returns false for other
    /// kinds.
    pub(super) fn refuse_text(
        &self,
        report: &mut ParseReport,
        wanted: &str,
        hint: impl FnOnce(&str) -> String,
    ) -> bool {
        let YamlValue::Text(text) = &self.node.value else { return false };
        report.problem(self.wrong_kind(wanted).hint(hint(&excerpt(text))));
        true
    }

    /// Reads a text. A number or boolean yields its source text.
    pub(super) fn text(&self, report: &mut ParseReport) -> Option<&'a str> {
        match &self.node.value {
            YamlValue::Text(text) | YamlValue::Plain(_, text) | YamlValue::Unreal(text) => Some(text),
            YamlValue::List(_) | YamlValue::Map(_) => {
                report.problem(self.wrong_kind("a text"));
                None
            }
        }
    }

    pub(super) fn boolean(&self, report: &mut ParseReport) -> Option<bool> {
        if let YamlValue::Plain(Json::Bool(flag), _) = &self.node.value {
            return Some(*flag);
        }
        report.problem(self.wrong_kind("true or false"));
        None
    }

    pub(super) fn integer(&self, report: &mut ParseReport) -> Option<i64> {
        if let YamlValue::Plain(Json::Number(number), _) = &self.node.value
            && let Some(number) = number.as_i64()
        {
            return Some(number);
        }
        let problem = match &self.node.value {
            YamlValue::Plain(Json::Number(number), _) => {
                self.problem(&format!("must be a whole number, not {number}"))
            }
            _ => self.wrong_kind("a whole number"),
        };
        report.problem(problem);
        None
    }

    /// Reads a duration. Like in ToolHive, zero means unset.
    pub(super) fn duration(&self, report: &mut ParseReport) -> Option<Duration> {
        let problem = match &self.node.value {
            YamlValue::Plain(Json::Number(number), _) if number.as_i64() == Some(0) => return None,
            YamlValue::Plain(Json::Number(number), _) => {
                let problem = self.problem("needs a unit");
                problem.hint(format!("write {number}s for seconds"))
            }
            YamlValue::Text(text) => match parse_duration(text) {
                Ok(Duration::ZERO) => return None,
                Ok(duration) => return Some(duration),
                Err(DurationError::Negative) => self.problem("cannot be negative"),
                Err(DurationError::TooLong) => self.problem("is too long"),
                Err(DurationError::Malformed) => self
                    .problem(&format!("is not a duration: \"{}\"", excerpt(text)))
                    .hint("write 30s, 5m, 1h30m or 300ms"),
            },
            _ => self.wrong_kind("a time").hint("write 30s, 5m, 1h30m or 300ms"),
        };
        report.problem(problem);
        None
    }

    /// Reads any value as JSON.
    pub(super) fn json(&self, report: &mut ParseReport) -> Option<Json> {
        match self.node.to_json() {
            Ok(json) => Some(json),
            Err((line, written)) => {
                let message =
                    format!("{} holds {}, which JSON cannot represent", self.path, excerpt(&written));
                report.problem(FileProblem::new(line, &*self.path, message));
                None
            }
        }
    }

    pub(super) fn object(&self, report: &mut ParseReport) -> Option<Object> {
        if let YamlValue::Map(_) = &self.node.value {
            return match self.json(report)? {
                Json::Object(object) => Some(object),
                _ => None,
            };
        }
        report.problem(self.wrong_kind("an object"));
        None
    }

    /// Reads the items of a list.
    pub(super) fn items(&self, report: &mut ParseReport) -> Option<Vec<NodePlace<'a>>> {
        if let YamlValue::List(items) = &self.node.value {
            let items = items.iter().enumerate();
            return Some(
                items.map(|(n, node)| NodePlace::new(node, format!("{}[{n}]", self.path))).collect(),
            );
        }
        report.problem(self.wrong_kind("a list"));
        None
    }

    /// Reads the entries of an object with arbitrary names.
    pub(super) fn entries(&self, report: &mut ParseReport) -> Option<&'a [MapEntry]> {
        if let YamlValue::Map(entries) = &self.node.value {
            return Some(entries);
        }
        report.problem(self.wrong_kind("an object"));
        None
    }

    /// Reads an object and reports unknown fields.
    pub(super) fn fields(&self, known: &[&str], report: &mut ParseReport) -> Option<ObjectFields<'a>> {
        let entries = self.entries(report)?;
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let problem = unknown_field(&self.path, entry);
            let problem = report.with_suggestion(problem, &entry.key, known.iter().copied());
            report.problem(problem);
        }
        Some(ObjectFields { entries, path: self.path.clone(), line: self.node.line })
    }

    /// Reads an object that may have further fields.
    pub(super) fn open_fields(&self, report: &mut ParseReport) -> Option<ObjectFields<'a>> {
        let entries = self.entries(report)?;
        Some(ObjectFields { entries, path: self.path.clone(), line: self.node.line })
    }
}

/// Creates the problem for an unknown field.
pub(crate) fn unknown_field(path: &str, entry: &MapEntry) -> FileProblem {
    let message = format!("{} has an unknown field `{}`", subject(path), excerpt(&entry.key));
    let problem = FileProblem::new(entry.line, join(path, &excerpt(&entry.key)), message);
    match GUIDED.iter().find(|(key, _)| *key == entry.key) {
        Some((_, hint)) => problem.hint(*hint),
        None => problem,
    }
}

/// Fields that ToolHive's guide shows but its code does not support, with replacements.
const GUIDED: [(&str, &str); 1] = [(
    "defaultResponse",
    "write onDecline and onCancel, and defaults in the schema; ToolHive does not support it either",
)];

impl<'a> ObjectFields<'a> {
    /// Returns the value of a field; null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<NodePlace<'a>> {
        let entry = self.entry(key).filter(|entry| !entry.node.is_null())?;
        Some(NodePlace::new(&entry.node, join(&self.path, key)))
    }

    /// Returns a field together with the line of its name.
    pub(super) fn entry(&self, key: &str) -> Option<&'a MapEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(super) fn entries(&self) -> &'a [MapEntry] {
        self.entries
    }

    /// Reads a non-empty text.
    pub(super) fn text(&self, key: &str, report: &mut ParseReport) -> Option<&'a str> {
        self.get(key)?.text(report).filter(|text| !text.is_empty())
    }

    /// Returns true if the field holds a list or an object instead of a text, which is reported when it is read.
    pub(super) fn is_of_another_kind(&self, key: &str) -> bool {
        self.get(key).is_some_and(|place| matches!(place.node.value, YamlValue::List(_) | YamlValue::Map(_)))
    }

    /// Creates a problem of the object; the message starts with its path.
    pub(super) fn problem(&self, message: &str) -> FileProblem {
        FileProblem::new(self.line, &*self.path, format!("{} {message}", subject(&self.path)))
    }

    /// Creates a problem of a missing field in ToolHive's own form: `path.field is …`.
    pub(super) fn missing(&self, key: &str, message: &str) -> FileProblem {
        let path = join(&self.path, key);
        FileProblem::new(self.line, &*path, format!("{path} {message}"))
    }
}
