//! Keys and sections of a policy file as data, which parsing, messages and the reference page share.

use loggia_schema::nearest;

/// One key of a section or of an inner table.
#[derive(Debug)]
pub struct Key {
    /// Name in the file.
    pub name: &'static str,
    /// Type of the value, for the reference page.
    pub kind: &'static str,
    /// Default in TOML, equivalent to omitting the key. `None`: the key is required. Empty: no value is equivalent to
    /// omitting it.
    pub default: Option<&'static str>,
    /// Meaning, for the reference page.
    pub means: &'static str,
    /// Example value, in TOML.
    pub example: &'static str,
    /// Keys of the tables that the value may be or contain.
    pub inner: &'static [Key],
}

/// One section of the file.
#[derive(Debug)]
pub struct Section {
    /// Name in the file, without brackets.
    pub name: &'static str,
    /// Purpose, for the reference page.
    pub means: &'static str,
    /// Keys of the section. `[limits]` has no `Section`; its keys are `limits::LIMITS`.
    pub keys: &'static [Key],
}

impl Section {
    /// Iterates over the names of the keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        names(self.keys)
    }
}

/// Iterates over the names of keys.
pub fn names(keys: &'static [Key]) -> impl Iterator<Item = &'static str> + Clone {
    keys.iter().map(|key| key.name)
}

/// Renders "; did you mean `name`?", or an empty text if no name is close.
pub fn did_you_mean<'a>(unknown: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(unknown, names).map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}
