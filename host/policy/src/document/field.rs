//! Typed access to the values of a document. A value of the wrong type adds a problem that names its key.

use super::{
    key::did_you_mean,
    problem::Problems,
    tree::{Node, Table, Text, Value},
};

/// A value with the path of keys that leads to it.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    /// Dotted path, such as `grants.dirs.path`.
    pub path: String,
    /// Line of the value.
    pub line: usize,
    value: &'a Value,
}

/// A table, of which some keys are known.
#[derive(Debug)]
pub struct Fields<'a> {
    /// Dotted path of the table; empty for the whole file.
    pub path: String,
    /// Line of the table.
    pub line: usize,
    table: &'a Table,
    /// True if the table has an unknown key, which may be a misspelling of a missing one.
    has_unknown_key: bool,
}

impl<'a> Field<'a> {
    /// Creates a field for the node at a path.
    pub fn new(path: String, node: &'a Node) -> Self {
        Self { path, line: node.line, value: &node.value }
    }

    /// Adds a problem: the path of the value, then the reason.
    pub fn report(&self, reason: impl AsRef<str>, problems: &mut Problems) {
        problems.add_at(self.line, &self.path, format!("`{}` {}", self.path, reason.as_ref()));
    }

    /// Reports a value of the wrong type, unless it is invalid: that was reported when the text was parsed.
    fn report_type<T>(&self, expected: &str, problems: &mut Problems) -> Option<T> {
        let found = match self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date(_) => "a date or time",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Invalid => return None,
        };
        self.report(format!("must be {expected} (got {found})"), problems);
        None
    }

    /// Returns the value, of any type.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns the string, without a problem if the value is none.
    pub fn as_text(&self) -> Option<&'a Text> {
        match self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the string. `expected` describes it in the problem.
    pub fn text_as(&self, expected: &str, problems: &mut Problems) -> Option<&'a Text> {
        self.as_text().or_else(|| self.report_type(expected, problems))
    }

    /// Returns the string.
    pub fn text(&self, problems: &mut Problems) -> Option<&'a Text> {
        self.text_as("a string, in quotes", problems)
    }

    /// Returns the boolean.
    pub fn flag(&self, problems: &mut Problems) -> Option<bool> {
        self.flag_as("true or false, without quotes", problems)
    }

    /// Returns the boolean. `expected` describes in the problem all types that the caller accepts.
    pub fn flag_as(&self, expected: &str, problems: &mut Problems) -> Option<bool> {
        match self.value {
            Value::Flag(flag) => Some(*flag),
            _ => self.report_type(expected, problems),
        }
    }

    /// Returns true if the value is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, Value::Table(_))
    }

    /// Returns the integer.
    pub fn integer(&self, problems: &mut Problems) -> Option<i64> {
        match self.value {
            Value::Integer(number) => Some(*number),
            _ => self.report_type("a whole number, without quotes", problems),
        }
    }

    /// Returns the items of the list.
    pub fn items(&self, problems: &mut Problems) -> Vec<Self> {
        match self.value {
            Value::List(items) => items.iter().map(|item| Field::new(self.path.clone(), item)).collect(),
            _ => self.report_type("a list, in brackets", problems).unwrap_or_default(),
        }
    }

    /// Returns true if the value is a list without items.
    pub fn is_empty_list(&self) -> bool {
        matches!(self.value, Value::List(items) if items.is_empty())
    }

    /// Returns the items of a list of strings. Other items add a problem and are left out.
    pub fn texts(&self, problems: &mut Problems) -> Vec<(Self, &'a Text)> {
        let items = self.items(problems);
        items.into_iter().filter_map(|item| Some((item.clone(), item.text(problems)?))).collect()
    }

    /// Returns the value at a path such as `http.listen`, or the innermost existing table around it.
    pub fn nearest(&self, path: &str) -> Self {
        let mut field = self.clone();
        for key in path.split('.') {
            match field.table().and_then(|fields| fields.get(key)) {
                Some(found) => field = found,
                None => break,
            }
        }
        field
    }

    /// Returns the table, without checking its keys.
    pub fn table(&self) -> Option<Fields<'a>> {
        match self.value {
            Value::Table(table) => {
                Some(Fields { path: self.path.clone(), line: self.line, table, has_unknown_key: false })
            }
            _ => None,
        }
    }

    /// Returns the table, and adds a problem for each key that is not among these.
    pub fn fields<'k>(
        &self,
        keys: impl Iterator<Item = &'k str> + Clone,
        problems: &mut Problems,
    ) -> Option<Fields<'a>> {
        let Some(mut fields) = self.table() else { return self.report_type("a table, in braces", problems) };
        fields.report_unknown_keys(keys, problems);
        Some(fields)
    }

    /// Returns the entries of a table whose keys the operator chooses.
    pub fn entries(&self, problems: &mut Problems) -> Vec<(&'a str, Self)> {
        match self.value {
            Value::Table(Table(entries)) => {
                let field = |key: &str, node| Field::new(format!("{}.{key}", self.path), node);
                entries.iter().map(|(key, _, node)| (key.as_str(), field(key, node))).collect()
            }
            _ => self.report_type("a table, in braces", problems).unwrap_or_default(),
        }
    }

    /// Returns the value that a word stands for. Any other word adds a problem, with a suggestion if one is close.
    pub fn word<T: Copy>(&self, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
        let known = || words.iter().map(|(word, _)| *word);
        let listed: Vec<String> = known().map(|word| format!("{word:?}")).collect();
        let expected = format!("one of {}", listed.join(", "));
        let text = self.text_as(&expected, problems)?;
        let value = words.iter().find(|(word, _)| *word == text.value).map(|(_, value)| *value);
        if value.is_none() {
            let hint = did_you_mean(&text.value, known());
            self.report(format!("must be {expected} (got {}){hint}", text.quoted()), problems);
        }
        value
    }
}

impl<'a> Fields<'a> {
    /// Creates the table of the whole file.
    pub fn root(table: &'a Table) -> Self {
        Self { path: String::new(), line: 1, table, has_unknown_key: false }
    }

    /// Iterates over the keys, with their lines.
    pub fn keys(&self) -> impl Iterator<Item = (&'a str, usize)> {
        self.table.0.iter().map(|(key, line, _)| (key.as_str(), *line))
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<Field<'a>> {
        let (line, node) = self.table.get(key)?;
        Some(Field { line, ..Field::new(self.dotted(key), node) })
    }

    /// Returns the dotted path of a key.
    pub fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Returns the value of a required key. A missing key adds a problem, unless an unknown key may be its misspelling.
    pub fn required(&self, key: &str, problems: &mut Problems) -> Option<Field<'a>> {
        let field = self.get(key);
        if field.is_none() && !self.has_unknown_key {
            problems.add(self.line, format!("`{}` needs the key `{key}`", self.path));
        }
        field
    }

    fn report_unknown_keys<'k>(
        &mut self,
        known: impl Iterator<Item = &'k str> + Clone,
        problems: &mut Problems,
    ) {
        let table = self.table;
        let keys = table.0.iter().filter(|(key, ..)| !known.clone().any(|known| known == key));
        for (key, line, _) in keys {
            problems.add(*line, unknown_key_message(key, &self.path, known.clone()));
            self.has_unknown_key = true;
        }
    }

    /// Returns true if a key is unknown. It may be a misspelling of a missing one, which need not be reported too.
    pub fn has_unknown_key(&self) -> bool {
        self.has_unknown_key
    }
}

/// Renders the problem of an unknown key, with the closest known key or else all of them.
fn unknown_key_message<'k>(key: &str, path: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    let hint = did_you_mean(key, known.clone());
    if hint.is_empty() {
        let known: Vec<String> = known.map(|key| format!("`{key}`")).collect();
        return format!("unknown key `{key}` in `{path}`; known keys: {}", known.join(", "));
    }
    format!("unknown key `{key}` in `{path}`{hint}")
}
