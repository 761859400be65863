//! One value of a policy on its way from text to meaning: of the right kind, or a problem that names its key.

use super::{
    key::did_you_mean,
    problem::Problems,
    tree::{Node, Table, Text, Value},
};

/// A value with the path of keys that leads to it.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    /// `grants.dirs.path`
    pub path: String,
    /// Of the value.
    pub line: usize,
    value: &'a Value,
}

/// A table whose keys are known.
#[derive(Debug)]
pub struct Fields<'a> {
    /// Of the table.
    pub path: String,
    /// Of the table.
    pub line: usize,
    table: &'a Table,
    /// A key is unknown, which may be the one that is missing.
    misspelt: bool,
}

impl<'a> Field<'a> {
    /// The value of a node, at a path.
    pub fn new(path: String, node: &'a Node) -> Self {
        Self { path, line: node.line, value: &node.value }
    }

    /// Adds a problem that begins with the key.
    pub fn wrong(&self, said: impl AsRef<str>, problems: &mut Problems) {
        problems.add_at(self.line, &self.path, format!("`{}` {}", self.path, said.as_ref()));
    }

    /// A value that is not what it has to be. Of one that is broken, a problem was told already.
    fn unfit<T>(&self, must: &str, problems: &mut Problems) -> Option<T> {
        let is = match self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date(_) => "a date or time",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Broken => return None,
        };
        self.wrong(format!("must be {must} (it is {is})"), problems);
        None
    }

    /// What stands there, whatever it is.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&'a Text> {
        match self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A string; `must` says of what kind.
    pub fn text_of(&self, must: &str, problems: &mut Problems) -> Option<&'a Text> {
        self.as_text().or_else(|| self.unfit(must, problems))
    }

    /// A string.
    pub fn text(&self, problems: &mut Problems) -> Option<&'a Text> {
        self.text_of("a string, in quotes", problems)
    }

    /// `true` or `false`.
    pub fn flag(&self, problems: &mut Problems) -> Option<bool> {
        self.flag_of("true or false, without quotes", problems)
    }

    /// `true` or `false`; `must` says what else it could be.
    pub fn flag_of(&self, must: &str, problems: &mut Problems) -> Option<bool> {
        match self.value {
            Value::Flag(flag) => Some(*flag),
            _ => self.unfit(must, problems),
        }
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, Value::Table(_))
    }

    /// A whole number.
    pub fn integer(&self, problems: &mut Problems) -> Option<i64> {
        match self.value {
            Value::Integer(number) => Some(*number),
            _ => self.unfit("a whole number, without quotes", problems),
        }
    }

    /// The items of a list.
    pub fn items(&self, problems: &mut Problems) -> Vec<Self> {
        match self.value {
            Value::List(items) => items.iter().map(|item| Field::new(self.path.clone(), item)).collect(),
            _ => self.unfit("a list, in brackets", problems).unwrap_or_default(),
        }
    }

    /// Whether it is a list of nothing.
    pub fn is_empty_list(&self) -> bool {
        matches!(self.value, Value::List(items) if items.is_empty())
    }

    /// A list of strings.
    pub fn texts(&self, problems: &mut Problems) -> Vec<(Self, &'a Text)> {
        let items = self.items(problems);
        items.into_iter().filter_map(|item| Some((item.clone(), item.text(problems)?))).collect()
    }

    /// The value of a key such as `http.listen` in it, or the nearest table around that.
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

    /// The keys of a table, whatever they are.
    pub fn table(&self) -> Option<Fields<'a>> {
        match self.value {
            Value::Table(table) => {
                Some(Fields { path: self.path.clone(), line: self.line, table, misspelt: false })
            }
            _ => None,
        }
    }

    /// A table with these keys and no other.
    pub fn fields<'k>(
        &self,
        keys: impl Iterator<Item = &'k str> + Clone,
        problems: &mut Problems,
    ) -> Option<Fields<'a>> {
        let Some(mut fields) = self.table() else { return self.unfit("a table, in braces", problems) };
        fields.only(keys, problems);
        Some(fields)
    }

    /// A table with any keys.
    pub fn entries(&self, problems: &mut Problems) -> Vec<(&'a str, Self)> {
        match self.value {
            Value::Table(Table(entries)) => {
                let field = |key: &str, node| Field::new(format!("{}.{key}", self.path), node);
                entries.iter().map(|(key, _, node)| (key.as_str(), field(key, node))).collect()
            }
            _ => self.unfit("a table, in braces", problems).unwrap_or_default(),
        }
    }

    /// One of several words.
    pub fn word<T: Copy>(&self, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
        let known = || words.iter().map(|(word, _)| *word);
        let listed: Vec<String> = known().map(|word| format!("{word:?}")).collect();
        let must = format!("one of {}", listed.join(", "));
        let text = self.text_of(&must, problems)?;
        let meant = words.iter().find(|(word, _)| *word == text.value).map(|(_, meant)| *meant);
        if meant.is_none() {
            let near = did_you_mean(&text.value, known());
            self.wrong(format!("must be {must} (it is {}){near}", text.shown()), problems);
        }
        meant
    }
}

impl<'a> Fields<'a> {
    /// The whole file.
    pub fn root(table: &'a Table) -> Self {
        Self { path: String::new(), line: 1, table, misspelt: false }
    }

    /// The keys there are, with their lines.
    pub fn keys(&self) -> impl Iterator<Item = (&'a str, usize)> {
        self.table.0.iter().map(|(key, line, _)| (key.as_str(), *line))
    }

    /// What stands under a key.
    pub fn get(&self, key: &str) -> Option<Field<'a>> {
        let (line, node) = self.table.get(key)?;
        Some(Field { line, ..Field::new(self.dotted(key), node) })
    }

    /// The path of a key.
    pub fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// What stands under a key that must be there.
    pub fn needed(&self, key: &str, problems: &mut Problems) -> Option<Field<'a>> {
        let field = self.get(key);
        if field.is_none() && !self.misspelt {
            problems.add(self.line, format!("`{}` needs the key `{key}`", self.path));
        }
        field
    }

    fn only<'k>(&mut self, known: impl Iterator<Item = &'k str> + Clone, problems: &mut Problems) {
        let table = self.table;
        let keys = table.0.iter().filter(|(key, ..)| !known.clone().any(|known| known == key));
        for (key, line, _) in keys {
            problems.add(*line, unknown(key, &self.path, known.clone()));
            self.misspelt = true;
        }
    }

    /// Whether a key is unknown: what is missing may be what was meant by it.
    pub fn is_misspelt(&self) -> bool {
        self.misspelt
    }
}

/// What is told of a key that does not exist: which was meant, or which there are.
fn unknown<'k>(key: &str, path: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    let near = did_you_mean(key, known.clone());
    if near.is_empty() {
        let there: Vec<String> = known.map(|key| format!("`{key}`")).collect();
        return format!("unknown key `{key}` in `{path}`; there are {}", there.join(", "));
    }
    format!("unknown key `{key}` in `{path}`{near}")
}
