//! Where something stands in the file, and what is wrong there.

use std::fmt;

use serde_path_to_error::{Path, Segment};

use crate::config::policy::tree::{Node, Table, Text, Value};

/// The keys that lead to a value, and between them the numbers of items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place(Vec<String>);

/// What is wrong with a value that can be read. Reads as `key` and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Of the value.
    pub place: Place,
    /// Reads after the key.
    pub said: String,
}

impl Mistake {
    /// At a place such as `http.hosts.1`.
    pub fn new(place: &str, said: impl Into<String>) -> Self {
        Self { place: Place(place.split('.').map(str::to_owned).collect()), said: said.into() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.place, self.said)
    }
}

/// As a policy's places are told: the keys. Which item is meant its line says.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.0.iter().filter(|step| step.parse::<usize>().is_err());
        f.write_str(&keys.map(String::as_str).collect::<Vec<_>>().join("."))
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Self {
        let step = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        Self(path.iter().filter_map(step).collect())
    }
}

impl Place {
    /// The place of what stands there under a key, or as an item.
    pub(super) fn step(&self, step: impl ToString) -> Self {
        Self(self.0.iter().cloned().chain([step.to_string()]).collect())
    }

    /// The same in words, of a key that may be anything.
    pub(super) fn dotted(&self, key: &str) -> String {
        if self.0.is_empty() { key.to_owned() } else { format!("{self}.{key}") }
    }

    /// What holds it, and its own key or number there. The whole file is in nothing.
    pub(super) fn split(&self) -> Option<(Self, &str)> {
        let (last, before) = self.0.split_last()?;
        Some((Self(before.to_vec()), last))
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether the other is in it, or the same.
    pub(super) fn holds(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// On which line it is, and whether it is there at all; if not, the line is that of the nearest around it.
    pub(super) fn find(&self, table: &Table) -> (usize, bool) {
        let Some((first, rest)) = self.0.split_first() else { return (1, true) };
        let Some((mut line, mut node)) = table.get(first) else { return (1, false) };
        for step in rest {
            match inside(node, step) {
                Some(found) => (line, node) = found,
                None => return (line, false),
            }
        }
        (line, true)
    }

    /// The string that stands there.
    pub(super) fn text<'a>(&self, table: &'a Table) -> Option<&'a Text> {
        let (first, rest) = self.0.split_first()?;
        let node = rest.iter().try_fold(table.get(first)?.1, |node, step| Some(inside(node, step)?.1))?;
        match &node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn inside<'a>(node: &'a Node, step: &str) -> Option<(usize, &'a Node)> {
    match &node.value {
        Value::Table(table) => table.get(step),
        Value::List(items) => items.get(step.parse::<usize>().ok()?).map(|item| (item.line, item)),
        _ => None,
    }
}
