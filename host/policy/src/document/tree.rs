//! A policy file as a tree whose every part knows its line, with variables filled in.

use toml::de::{DeInteger, DeTable, DeValue};

use super::{
    problem::Problems,
    substitute::{Unfilled, substitute},
};

/// One value, and where it stands.
#[derive(Debug, PartialEq)]
pub struct Node {
    /// Counted from 1.
    pub line: usize,
    /// What stands there.
    pub value: Value,
}

/// What can stand in a policy.
#[derive(Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(Text),
    /// A whole number.
    Integer(i64),
    /// Another number, perhaps none that is finite.
    Float(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A date, a time, or both, as it was written.
    Date(String),
    /// `[…]`
    List(Vec<Node>),
    /// `{…}` or a section.
    Table(Table),
    /// Something of which a problem was told already.
    Broken,
}

/// A string.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    /// With its variables filled in.
    pub value: String,
    /// As the file has it, where something of the value came from the environment.
    pub written: Option<String>,
}

/// Keys with their values, in the file's order.
#[derive(Debug, Default, PartialEq)]
pub struct Table(pub Vec<(String, usize, Node)>);

impl Text {
    /// As messages show it: what came from the environment may be a secret.
    pub fn shown(&self) -> String {
        match &self.written {
            Some(written) => format!("{written:?}, filled in from the environment"),
            None => format!("{:?}", self.value),
        }
    }
}

impl Table {
    /// What stands under a key, and on which line the key.
    pub fn get(&self, key: &str) -> Option<(usize, &Node)> {
        self.0.iter().find(|(name, ..)| name == key).map(|(_, line, node)| (*line, node))
    }
}

/// What was read of a file's text.
pub struct Tree {
    /// All that is TOML.
    pub table: Table,
    /// The line of the first mistake of spelling, which was told: what stands there and after it may be lost.
    pub torn: Option<usize>,
}

/// Reads a file's text. What is no TOML is left out and told, so that the rest can be looked at as well.
pub fn tree(text: &str, variable: &dyn Fn(&str) -> Option<String>, problems: &mut Problems) -> Tree {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = Lines::of(text);
    // After the first mistake of spelling, the parser's others are mostly its echo.
    let torn = errors.first().map(|error| {
        let line = error.span().map_or(1, |span| lines.at(span.start));
        problems.add(line, error.message().replace('\n', ", "));
        line
    });
    let mut growing = Growing { lines, variable, problems };
    Tree { table: growing.table(table.into_inner(), &mut Vec::new()), torn }
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|begin| *begin <= offset)
    }
}

struct Growing<'a> {
    lines: Lines,
    variable: &'a dyn Fn(&str) -> Option<String>,
    problems: &'a mut Problems,
}

impl Growing<'_> {
    fn table(&mut self, table: DeTable<'_>, path: &mut Vec<String>) -> Table {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let line = self.lines.at(key.span().start);
            let key = key.into_inner().into_owned();
            path.push(key);
            let at = self.lines.at(value.span().start);
            let value = self.value(value.into_inner(), at, path);
            let key = path.pop().unwrap_or_default();
            entries.push((key, line, Node { line: at, value }));
        }
        entries.sort_by_key(|(_, line, _)| *line);
        Table(entries)
    }

    fn value(&mut self, value: DeValue<'_>, line: usize, path: &mut Vec<String>) -> Value {
        match value {
            DeValue::String(text) => self.text(&text, line, path),
            DeValue::Integer(number) => match integer(&number) {
                Some(number) => Value::Integer(number),
                None => self.broken(line, path, "is a larger number than can be used"),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Value::Float(number),
                Err(_) => self.broken(line, path, "is a number that cannot be used"),
            },
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| {
                    let line = self.lines.at(item.span().start);
                    Node { line, value: self.value(item.into_inner(), line, path) }
                });
                Value::List(items.collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table, path)),
        }
    }

    fn text(&mut self, text: &str, line: usize, path: &[String]) -> Value {
        match substitute(text, self.variable) {
            Ok(filled) => {
                let written = filled.from_environment.then(|| text.to_owned());
                Value::Text(Text { value: filled.value, written })
            }
            Err(unfilled @ (Unfilled::Unset(_) | Unfilled::Malformed)) => {
                self.broken(line, path, &unfilled.to_string())
            }
        }
    }

    fn broken(&mut self, line: usize, path: &[String], said: &str) -> Value {
        let path = path.join(".");
        self.problems.add_at(line, &path, format!("`{path}` {said}"));
        Value::Broken
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_knows_its_line() {
        let mut problems = Problems::default();
        let text = "a = 1\n[b]\nc = [\n  true,\n  \"${X}\",\n]\nd = 0x10\n\n[b.e]\nf = 1979-05-27\n";
        let table = tree(text, &|name| Some(name.to_lowercase()), &mut problems).table;
        assert!(problems.is_empty());
        let (line, b) = table.get("b").unwrap();
        let Value::Table(b) = &b.value else { panic!() };
        let Value::List(items) = &b.get("c").unwrap().1.value else { panic!() };
        assert_eq!((line, b.get("c").unwrap().0), (2, 3));
        assert_eq!(items[0], Node { line: 4, value: Value::Flag(true) });
        let filled = Text { value: "x".into(), written: Some("${X}".into()) };
        assert_eq!(items[1], Node { line: 5, value: Value::Text(filled) });
        assert_eq!(b.get("d").unwrap().1, &Node { line: 7, value: Value::Integer(16) });
        let Value::Table(e) = &b.get("e").unwrap().1.value else { panic!() };
        let (line, date) = e.get("f").unwrap();
        assert_eq!((line, &date.value), (10, &Value::Date("1979-05-27".into())));
    }

    #[test]
    fn what_cannot_be_filled_in_is_told_with_key_and_line_and_the_rest_is_read() {
        let mut problems = Problems::default();
        let table =
            tree("[grants]\nenv = { A = \"${NO}\" }\nb = 99999999999999999999\n", &|_| None, &mut problems)
                .table;
        assert!(table.get("grants").is_some());
        let said = problems.sorted().to_string();
        assert!(said.starts_with("line 2: `grants.env.A` needs the environment variable NO"), "{said}");
        assert!(said.ends_with("line 3: `grants.b` is a larger number than can be used"), "{said}");
    }
}
