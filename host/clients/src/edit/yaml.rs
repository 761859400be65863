//! YAML: whole lines are put and removed, in block style.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{
    fault::EditFault,
    lines::line_end,
    yaml_tree::{BlockKey, read_with_keys},
};

/// Indentation of entries, if there is no other one to follow.
const INDENT: usize = 2;

pub(super) fn put(
    text: &str,
    key: &str,
    name: &str,
    entry: &Map<String, Value>,
) -> Result<String, EditFault> {
    let file = YamlFile::read(text, key)?;
    let end = line_end(text);
    let indent = file.entries.first().map_or(INDENT, |entry| entry.column);
    let block = render(name, entry, indent, end);
    let mut lines: Vec<String> = file.lines.iter().map(|line| (*line).to_owned()).collect();
    if let Some(last) = lines.last_mut().filter(|last| !last.ends_with('\n')) {
        last.push_str(end);
    }
    match (&file.section, file.entry(name)) {
        (_, Some(known)) => drop(lines.splice(known, [block])),
        (Some(section), None) => {
            let at = file.entries.last().map_or(section.start + 1, |last| file.end_of(last));
            if file.entries.is_empty() {
                // `extensions:`, `extensions: {}` or `extensions: null`: the line is replaced by one with nothing after the colon.
                let line = &lines[section.start];
                let (head, rest) = line.split_once(':').unwrap_or((line, ""));
                if !matches!(rest.trim(), "" | "{}" | "null" | "~") {
                    return Err(EditFault::Form(format!("`{key}` is not written line by line")));
                }
                lines[section.start] = format!("{head}:{end}");
            }
            lines.insert(at, block);
        }
        (None, None) => lines.push(format!("{key}:{end}{block}")),
    }
    Ok(lines.concat())
}

pub(super) fn remove(text: &str, key: &str, name: &str) -> Result<String, EditFault> {
    let file = YamlFile::read(text, key)?;
    let Some(known) = file.entry(name) else { return Ok(text.to_owned()) };
    let mut lines = file.lines.clone();
    if let ([_], Some(section)) = (file.entries.as_slice(), &file.section) {
        // An empty section would be null, which Goose might refuse.
        let head = lines[section.start].trim_end().to_owned();
        let empty = format!("{head} {{}}{}", line_end(text));
        let (before, after) = (lines[..section.start].concat(), lines[known.end..].concat());
        let between = lines[section.start + 1..known.start].concat();
        return Ok(format!("{before}{empty}{between}{after}"));
    }
    lines.drain(known);
    Ok(lines.concat())
}

/// The lines of a file, and of the entries in it.
struct YamlFile<'a> {
    /// With their ends.
    lines: Vec<&'a str>,
    /// The lines of the key and of its value.
    section: Option<Range<usize>>,
    entries: Vec<BlockKey>,
}

impl<'a> YamlFile<'a> {
    fn read(text: &'a str, key: &str) -> Result<Self, EditFault> {
        let (root, keys) = read_with_keys(text)?;
        let form = |what: &str| EditFault::Form(format!("{what} is not written line by line"));
        let whole = root.as_object().ok_or_else(|| form("the file"))?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        if lines.iter().any(|line| line.trim_end() == "...") {
            return Err(form("the file"));
        }
        let roots: Vec<&BlockKey> = keys.iter().filter(|known| known.path.len() == 1).collect();
        if roots.iter().any(|known| known.column != 0) {
            return Err(form("the file"));
        }
        let section = roots
            .iter()
            .position(|known| known.path[0] == key)
            .map(|at| roots[at].line..roots.get(at + 1).map_or(lines.len(), |next| next.line));
        let entries: Vec<BlockKey> =
            keys.into_iter().filter(|known| known.path.len() == 2 && known.path[0] == key).collect();
        let column = entries.first().map_or(0, |first| first.column);
        let is_block = |entry: &BlockKey| {
            let starts = lines
                .get(entry.line)
                .is_some_and(|line| line.len() - line.trim_start_matches(' ').len() == column);
            entry.column == column
                && column > 0
                && starts
                && Some(entry.line) != section.as_ref().map(|s| s.start)
        };
        if !entries.iter().all(is_block) {
            return Err(form(&format!("`{key}`")));
        }
        match whole.get(key) {
            None | Some(Value::Null | Value::Object(_)) => Ok(Self { lines, section, entries }),
            Some(_) => Err(EditFault::Form(format!("`{key}` is not a mapping"))),
        }
    }

    /// The lines of an entry.
    fn entry(&self, name: &str) -> Option<Range<usize>> {
        let entry = self.entries.iter().find(|entry| entry.path[1] == name)?;
        Some(entry.line..self.end_of(entry))
    }

    /// The line after an entry: without the empty lines and comments that follow it.
    fn end_of(&self, entry: &BlockKey) -> usize {
        let section = self.section.as_ref().map_or(self.lines.len(), |section| section.end);
        let next = self.entries.iter().map(|entry| entry.line).find(|line| *line > entry.line);
        let mut end = next.unwrap_or(section);
        let is_idle = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        while end > entry.line + 1 && is_idle(self.lines[end - 1]) {
            end -= 1;
        }
        end
    }
}

/// The lines of an entry.
fn render(name: &str, entry: &Map<String, Value>, indent: usize, end: &str) -> String {
    let mut out = format!("{:indent$}{}:{end}", "", scalar(name));
    members(entry, indent + INDENT, end, &mut out);
    out
}

fn members(entry: &Map<String, Value>, indent: usize, end: &str, out: &mut String) {
    for (key, value) in entry {
        out.push_str(&format!("{:indent$}{}:", "", scalar(key)));
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push_str(end);
                members(inner, indent + INDENT, end, out);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push_str(end);
                for item in items {
                    out.push_str(&format!("{:indent$}- {}{end}", "", one_line(item)));
                }
            }
            _ => out.push_str(&format!(" {}{end}", one_line(value))),
        }
    }
}

fn one_line(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        // JSON is YAML.
        other => other.to_string(),
    }
}

/// A text: without quotes where YAML reads it as a text all the same.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 10] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan"];
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ' '))
        && !text.ends_with(' ')
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}
