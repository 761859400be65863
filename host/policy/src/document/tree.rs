//! A TOML document as a tree of values with line numbers, and with variables expanded.

use toml::de::{DeInteger, DeTable, DeValue};

use super::{
    expand::{ExpandError, expand},
    problem::Problems,
};

/// One value with its position.
#[derive(Debug, PartialEq)]
pub struct Node {
    /// Line, counted from 1.
    pub line: usize,
    /// The value.
    pub value: Value,
}

/// One value of a document.
#[derive(Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(Text),
    /// An integer.
    Integer(i64),
    /// A float, which may be infinite or NaN.
    Float(f64),
    /// A boolean.
    Flag(bool),
    /// A date, a time, or both, verbatim.
    Date(String),
    /// `[…]`
    List(Vec<Node>),
    /// `{…}` or a section.
    Table(Table),
    /// A value whose problem was reported already.
    Invalid,
}

/// A string.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    /// Value with its variables expanded.
    pub value: String,
    /// Text of the file, if a part of the value came from the environment.
    pub written: Option<String>,
}

/// Keys, their lines and their values, in the order of the file.
#[derive(Debug, Default, PartialEq)]
pub struct Table(pub Vec<(String, usize, Node)>);

impl Text {
    /// Quotes the string for messages. Shows the text of the file instead of values from the environment, which may be
    /// secrets.
    pub fn quoted(&self) -> String {
        match &self.written {
            Some(written) => format!("{written:?}, expanded from the environment"),
            None => format!("{:?}", self.value),
        }
    }
}

impl Table {
    /// Returns the line of a key, and its value.
    pub fn get(&self, key: &str) -> Option<(usize, &Node)> {
        self.0.iter().find(|(name, ..)| name == key).map(|(_, line, node)| (*line, node))
    }
}

/// Parsed text of a document.
pub struct Tree {
    /// Everything that is valid TOML.
    pub table: Table,
    /// Line of the first syntax error, which was reported. Values on and after it may be missing.
    pub syntax_error: Option<usize>,
}

/// Parses the text of a document. Reports invalid TOML and omits it, so that the rest can be checked too.
pub fn parse_tree(text: &str, variable: &dyn Fn(&str) -> Option<String>, problems: &mut Problems) -> Tree {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = LineIndex::new(text);
    // Errors after the first are mostly its consequences.
    let syntax_error = errors.first().map(|error| {
        let line = error.span().map_or(1, |span| lines.line_at(span.start));
        problems.add(line, error.message().replace('\n', ", "));
        line
    });
    let mut builder = TreeBuilder { lines, variable, problems };
    Tree { table: builder.table(table.into_inner(), &mut Vec::new()), syntax_error }
}

/// Offsets at which lines begin.
struct LineIndex(Vec<usize>);

impl LineIndex {
    fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    fn line_at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

struct TreeBuilder<'a> {
    lines: LineIndex,
    variable: &'a dyn Fn(&str) -> Option<String>,
    problems: &'a mut Problems,
}

impl TreeBuilder<'_> {
    fn table(&mut self, table: DeTable<'_>, path: &mut Vec<String>) -> Table {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let line = self.lines.line_at(key.span().start);
            let key = key.into_inner().into_owned();
            path.push(key);
            let value_line = self.lines.line_at(value.span().start);
            let value = self.value(value.into_inner(), value_line, path);
            let key = path.pop().unwrap_or_default();
            entries.push((key, line, Node { line: value_line, value }));
        }
        entries.sort_by_key(|(_, line, _)| *line);
        Table(entries)
    }

    fn value(&mut self, value: DeValue<'_>, line: usize, path: &mut Vec<String>) -> Value {
        match value {
            DeValue::String(text) => self.text(&text, line, path),
            DeValue::Integer(number) => match integer(&number) {
                Some(number) => Value::Integer(number),
                None => self.invalid(line, path, "is out of range for a 64-bit integer"),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Value::Float(number),
                Err(_) => self.invalid(line, path, "is not a valid number"),
            },
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| {
                    let line = self.lines.line_at(item.span().start);
                    Node { line, value: self.value(item.into_inner(), line, path) }
                });
                Value::List(items.collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table, path)),
        }
    }

    fn text(&mut self, text: &str, line: usize, path: &[String]) -> Value {
        match expand(text, self.variable) {
            Ok(expanded) => {
                let written = expanded.from_environment.then(|| text.to_owned());
                Value::Text(Text { value: expanded.value, written })
            }
            Err(error @ (ExpandError::Unset(_) | ExpandError::Malformed)) => {
                self.invalid(line, path, &error.to_string())
            }
        }
    }

    fn invalid(&mut self, line: usize, path: &[String], reason: &str) -> Value {
        let path = path.join(".");
        self.problems.add_at(line, &path, format!("`{path}` {reason}"));
        Value::Invalid
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_its_line() {
        let mut problems = Problems::default();
        let text = "a = 1\n[b]\nc = [\n  true,\n  \"${X}\",\n]\nd = 0x10\n\n[b.e]\nf = 1979-05-27\n";
        let table = parse_tree(text, &|name| Some(name.to_lowercase()), &mut problems).table;
        assert!(problems.is_empty());
        let (line, b) = table.get("b").unwrap();
        let Value::Table(b) = &b.value else { panic!() };
        let Value::List(items) = &b.get("c").unwrap().1.value else { panic!() };
        assert_eq!((line, b.get("c").unwrap().0), (2, 3));
        assert_eq!(items[0], Node { line: 4, value: Value::Flag(true) });
        let expanded = Text { value: "x".into(), written: Some("${X}".into()) };
        assert_eq!(items[1], Node { line: 5, value: Value::Text(expanded) });
        assert_eq!(b.get("d").unwrap().1, &Node { line: 7, value: Value::Integer(16) });
        let Value::Table(e) = &b.get("e").unwrap().1.value else { panic!() };
        let (line, date) = e.get("f").unwrap();
        assert_eq!((line, &date.value), (10, &Value::Date("1979-05-27".into())));
    }

    #[test]
    fn invalid_values_are_reported_and_skipped() {
        let mut problems = Problems::default();
        let text = "[grants]\nenv = { A = \"${NO}\" }\nb = 99999999999999999999\n";
        let table = parse_tree(text, &|_| None, &mut problems).table;
        assert!(table.get("grants").is_some());
        let message = problems.sorted().to_string();
        assert!(message.starts_with("line 2: `grants.env.A` needs the environment variable NO"), "{message}");
        assert!(message.ends_with("line 3: `grants.b` is out of range for a 64-bit integer"), "{message}");
    }
}
