//! Places of a file, while it is read: what stands there, how it is called, and all that is wrong.

use std::time::Duration;

use loggia_facade::Object;
use serde_json::Value as Json;

use super::{
    duration::{DurationError, duration},
    report::ParseReport,
};
use crate::{
    Problem,
    yaml::{MapEntry, YamlNode, YamlValue, excerpt},
};

/// A part of a file.
#[derive(Debug, Clone)]
pub(crate) struct NodePlace<'a> {
    pub node: &'a YamlNode,
    pub path: String,
}

/// An object whose fields are known.
pub(crate) struct ObjectFields<'a> {
    entries: &'a [MapEntry],
    pub path: String,
    pub line: usize,
}

/// The path of a field.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// What a message begins with.
pub(crate) fn about(path: &str) -> String {
    if path.is_empty() { "the file".to_owned() } else { path.to_owned() }
}

impl<'a> NodePlace<'a> {
    pub(super) fn new(node: &'a YamlNode, path: impl Into<String>) -> Self {
        Self { node, path: path.into() }
    }

    /// A problem here, in a sentence that follows the path.
    pub(super) fn problem(&self, said: &str) -> Problem {
        Problem::new(self.node.line, &*self.path, format!("{} {said}", about(&self.path)))
    }

    /// Another kind of value stands here than is wanted.
    fn other(&self, wanted: &str) -> Problem {
        self.problem(&format!("must be {wanted}, not {}", self.node.kind()))
    }

    /// The same, where it is written as people often write it.
    pub(super) fn written(
        &self,
        report: &mut ParseReport,
        wanted: &str,
        hint: impl FnOnce(&str) -> String,
    ) -> bool {
        let YamlValue::Text(text) = &self.node.value else { return false };
        report.problem(self.other(wanted).hint(hint(&excerpt(text))));
        true
    }

    /// A text; a number or a flag is the text that is written.
    pub(super) fn text(&self, report: &mut ParseReport) -> Option<&'a str> {
        match &self.node.value {
            YamlValue::Text(text) | YamlValue::Plain(_, text) | YamlValue::Unreal(text) => Some(text),
            YamlValue::List(_) | YamlValue::Map(_) => {
                report.problem(self.other("a text"));
                None
            }
        }
    }

    pub(super) fn flag(&self, report: &mut ParseReport) -> Option<bool> {
        if let YamlValue::Plain(Json::Bool(flag), _) = &self.node.value {
            return Some(*flag);
        }
        report.problem(self.other("true or false"));
        None
    }

    pub(super) fn whole(&self, report: &mut ParseReport) -> Option<i64> {
        if let YamlValue::Plain(Json::Number(number), _) = &self.node.value
            && let Some(number) = number.as_i64()
        {
            return Some(number);
        }
        let problem = match &self.node.value {
            YamlValue::Plain(Json::Number(number), _) => {
                self.problem(&format!("must be a whole number, not {number}"))
            }
            _ => self.other("a whole number"),
        };
        report.problem(problem);
        None
    }

    /// A time. None at all is as none said, in ToolHive too.
    pub(super) fn duration(&self, report: &mut ParseReport) -> Option<Duration> {
        let problem = match &self.node.value {
            YamlValue::Plain(Json::Number(number), _) if number.as_i64() == Some(0) => return None,
            YamlValue::Plain(Json::Number(number), _) => {
                let problem = self.problem("needs a unit");
                problem.hint(format!("write {number}s for seconds"))
            }
            YamlValue::Text(text) => match duration(text) {
                Ok(Duration::ZERO) => return None,
                Ok(duration) => return Some(duration),
                Err(DurationError::Negative) => self.problem("cannot be negative"),
                Err(DurationError::TooLong) => self.problem("is longer than can be counted"),
                Err(DurationError::Malformed) => self
                    .problem(&format!("is no time: \"{}\"", excerpt(text)))
                    .hint("write 30s, 5m, 1h30m or 300ms"),
            },
            _ => self.other("a time").hint("write 30s, 5m, 1h30m or 300ms"),
        };
        report.problem(problem);
        None
    }

    /// What stands here as JSON.
    pub(super) fn json(&self, report: &mut ParseReport) -> Option<Json> {
        match self.node.json() {
            Ok(json) => Some(json),
            Err((line, written)) => {
                let said = format!("{} holds {}, which is no number in JSON", self.path, excerpt(&written));
                report.problem(Problem::new(line, &*self.path, said));
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
        report.problem(self.other("an object"));
        None
    }

    /// The items of a list.
    pub(super) fn items(&self, report: &mut ParseReport) -> Option<Vec<NodePlace<'a>>> {
        if let YamlValue::List(items) = &self.node.value {
            let items = items.iter().enumerate();
            return Some(
                items.map(|(n, node)| NodePlace::new(node, format!("{}[{n}]", self.path))).collect(),
            );
        }
        report.problem(self.other("a list"));
        None
    }

    /// The entries of an object, whatever their names are.
    pub(super) fn entries(&self, report: &mut ParseReport) -> Option<&'a [MapEntry]> {
        if let YamlValue::Map(entries) = &self.node.value {
            return Some(entries);
        }
        report.problem(self.other("an object"));
        None
    }

    /// The fields of an object; others than the known ones are problems.
    pub(super) fn fields(&self, known: &[&str], report: &mut ParseReport) -> Option<ObjectFields<'a>> {
        let entries = self.entries(report)?;
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let problem = unknown(&self.path, entry);
            let problem = report.advise(problem, &entry.key, known.iter().copied());
            report.problem(problem);
        }
        Some(ObjectFields { entries, path: self.path.clone(), line: self.node.line })
    }

    /// The fields of an object of which others may be there.
    pub(super) fn open(&self, report: &mut ParseReport) -> Option<ObjectFields<'a>> {
        let entries = self.entries(report)?;
        Some(ObjectFields { entries, path: self.path.clone(), line: self.node.line })
    }
}

/// A field that nobody knows.
pub(crate) fn unknown(path: &str, entry: &MapEntry) -> Problem {
    let said = format!("{} has an unknown field `{}`", about(path), excerpt(&entry.key));
    let problem = Problem::new(entry.line, join(path, &excerpt(&entry.key)), said);
    match GUIDED.iter().find(|(key, _)| *key == entry.key) {
        Some((_, hint)) => problem.hint(*hint),
        None => problem,
    }
}

/// Fields that ToolHive's guide shows and its code does not know, with what to write instead.
const GUIDED: [(&str, &str); 1] = [(
    "defaultResponse",
    "write onDecline and onCancel, and defaults in the schema; ToolHive does not know it either",
)];

impl<'a> ObjectFields<'a> {
    /// What stands in a field; null is as nothing.
    pub(super) fn get(&self, key: &str) -> Option<NodePlace<'a>> {
        let entry = self.entry(key).filter(|entry| !entry.node.is_null())?;
        Some(NodePlace::new(&entry.node, join(&self.path, key)))
    }

    /// A field with its name's line.
    pub(super) fn entry(&self, key: &str) -> Option<&'a MapEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(super) fn entries(&self) -> &'a [MapEntry] {
        self.entries
    }

    /// A text that is not empty.
    pub(super) fn text(&self, key: &str, report: &mut ParseReport) -> Option<&'a str> {
        self.get(key)?.text(report).filter(|text| !text.is_empty())
    }

    /// Whether a list or an object stands where a text is wanted, of which is told when it is read.
    pub(super) fn is_of_another_kind(&self, key: &str) -> bool {
        self.get(key).is_some_and(|place| matches!(place.node.value, YamlValue::List(_) | YamlValue::Map(_)))
    }

    /// A problem of the object, in a sentence that follows its path.
    pub(super) fn problem(&self, said: &str) -> Problem {
        Problem::new(self.line, &*self.path, format!("{} {said}", about(&self.path)))
    }

    /// A problem of a field that is not there: ToolHive's own form, `path.field is …`.
    pub(super) fn missing(&self, key: &str, said: &str) -> Problem {
        let path = join(&self.path, key);
        Problem::new(self.line, &*path, format!("{path} {said}"))
    }
}
