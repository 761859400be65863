//! The keys of a policy file as data: parsing, messages and the reference page all read the same tables.

use loggia_schema::nearest;

/// One key.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value is, in a few words.
    pub kind: &'static str,
    /// The value that says the same as leaving the key out, in TOML; none where the key must be given, and an empty
    /// text where leaving it out says what no value does.
    pub default: Option<&'static str>,
    /// What it means.
    pub means: &'static str,
    /// A value, in TOML.
    pub example: &'static str,
    /// The keys of the tables that may be its value.
    pub inner: &'static [Key],
}

/// A section of the file.
#[derive(Debug)]
pub struct Section {
    /// As it is written between brackets.
    pub name: &'static str,
    /// What it is for.
    pub means: &'static str,
    /// Its keys; those of `[limits]` are a table of their own.
    pub keys: &'static [Key],
}

impl Section {
    /// The names of its keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        names(self.keys)
    }
}

/// The names of keys.
pub fn names(keys: &'static [Key]) -> impl Iterator<Item = &'static str> + Clone {
    keys.iter().map(|key| key.name)
}

/// Renders "; did you mean `name`?", or nothing if no name is near.
pub fn did_you_mean<'a>(unknown: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(unknown, names).map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}
