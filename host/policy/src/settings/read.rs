//! Parses the text of `loggia.toml`.

use super::{
    credential::JwksLocation,
    root_table::Settings,
    value::{SettingValue, SettingsReader},
};
use crate::document::{
    PolicySetting,
    field::Field,
    problem::Problems,
    tree::{Node, Tree, Value, parse_tree},
};

/// Path of the authorization server's keys.
const JWKS: &str = "auth.oauth.jwks";

/// Parses the text of a file, with its variables expanded.
fn parse_file(text: &str, setting: &PolicySetting<'_>) -> (Node, Problems) {
    let mut problems = Problems::default();
    let Tree { table, syntax_error } = parse_tree(text, setting.variable, &mut problems);
    problems.set_syntax_error(syntax_error);
    (Node { line: 1, value: Value::Table(table) }, problems)
}

/// Reads another file than `loggia.toml`, whose root is a table; `None` if a required key of it is missing.
pub(super) fn read_document<T: SettingValue>(
    text: &str,
    setting: &PolicySetting<'_>,
) -> (Option<T>, Problems) {
    let (file, problems) = parse_file(text, setting);
    let mut reader = SettingsReader { setting, problems, token: String::new() };
    let value = T::read(&Field::new(String::new(), &file), &mut reader);
    (value, reader.problems)
}

/// All problems of a file, each with its line. Displays on one line, as the text after the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(Problems);

impl From<Problems> for SettingsError {
    fn from(problems: Problems) -> Self {
        Self(problems.sorted())
    }
}

impl SettingsError {
    /// Renders one problem per line.
    pub fn lines(&self) -> String {
        self.0.lines()
    }
}

/// Parsed file, which may have problems.
pub struct SettingsReading {
    /// Settings of the file, with defaults for invalid values.
    pub settings: Settings,
    /// Location of the signing keys, even if other values of the authorization server are invalid.
    pub jwks: Option<JwksLocation>,
    file: Node,
    problems: Problems,
}

impl Settings {
    /// Parses the text of a file. Expands `${VAR}` in strings, and resolves relative paths against its folder.
    ///
    /// # Errors
    ///
    /// All problems, each with its line, and for an unknown key the closest known one.
    pub fn parse(text: &str, setting: &PolicySetting<'_>) -> Result<Self, SettingsError> {
        SettingsReading::new(text, setting).finish()
    }
}

impl SettingsReading {
    /// Parses the text of a file, like [`Settings::parse`]. Checks can add more problems before [`Self::finish`].
    pub fn new(text: &str, setting: &PolicySetting<'_>) -> Self {
        let (file, problems) = parse_file(text, setting);
        let mut reader = SettingsReader { setting, problems, token: String::new() };
        let root = Field::new(String::new(), &file);
        let settings = Settings::read(&root, &mut reader).unwrap_or_default();
        let problems = std::mem::take(&mut reader.problems);
        // Reads the location once more, even if its table is invalid. Its problems were reported above.
        let jwks = Some(root.nearest(JWKS)).filter(|field| field.path == JWKS);
        let jwks = jwks.and_then(|field| JwksLocation::read(&field, &mut reader));
        Self { settings, jwks, file, problems }
    }

    /// Adds a problem of several keys together, at the line of the first. Ignored if one of them has a problem already.
    pub fn add(&mut self, keys: &[&str], text: &str) {
        if !self.problems.has_syntax_error() && !keys.iter().any(|key| self.problems.affect(key)) {
            let key = keys.first().copied().unwrap_or_default();
            let line = Field::new(String::new(), &self.file).nearest(key).line;
            self.problems.add_at(line, key, text);
        }
    }

    /// Returns the settings.
    ///
    /// # Errors
    ///
    /// All problems, each with its line.
    pub fn finish(self) -> Result<Settings, SettingsError> {
        if self.problems.is_empty() { Ok(self.settings) } else { Err(self.problems.into()) }
    }
}
