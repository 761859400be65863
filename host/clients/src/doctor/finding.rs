//! What was found about one entry.

use loggia_text::{printable, redact};
use serde_json::{Value, json};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingLevel {
    /// The client does not see all tools.
    Problem,
    /// It may not, or will not.
    Warning,
    /// To know.
    Note,
    /// As it should be.
    Fine,
}

/// One finding, without credentials.
#[derive(Debug, Clone, PartialEq)]
pub struct DoctorFinding {
    /// How much it matters.
    pub level: FindingLevel,
    text: String,
    remedy: Option<String>,
}

impl FindingLevel {
    /// Its word in a table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Fine => "ok",
        }
    }
}

impl DoctorFinding {
    /// A problem, with its remedy.
    pub fn problem(text: impl AsRef<str>, remedy: impl AsRef<str>) -> Self {
        Self::new(FindingLevel::Problem, text.as_ref(), Some(remedy.as_ref()))
    }

    /// A warning, with its remedy.
    pub fn warning(text: impl AsRef<str>, remedy: impl AsRef<str>) -> Self {
        Self::new(FindingLevel::Warning, text.as_ref(), Some(remedy.as_ref()))
    }

    /// Something to know.
    pub fn note(text: impl AsRef<str>) -> Self {
        Self::new(FindingLevel::Note, text.as_ref(), None)
    }

    /// Something that is as it should be.
    pub fn fine(text: impl AsRef<str>) -> Self {
        Self::new(FindingLevel::Fine, text.as_ref(), None)
    }

    fn new(level: FindingLevel, text: &str, remedy: Option<&str>) -> Self {
        let clean = |text: &str| printable(&redact(text)).into_owned();
        Self { level, text: clean(text), remedy: remedy.map(clean) }
    }

    /// Its line of a table: level, finding, remedy.
    pub fn to_row(&self) -> [String; 3] {
        [self.level.word().to_owned(), self.text.clone(), self.remedy.clone().unwrap_or_default()]
    }

    /// Its lines for a person.
    pub fn to_lines(&self) -> String {
        let remedy = self.remedy.as_ref().map(|remedy| format!("\n           → {remedy}"));
        format!("  {:<8} {}{}", self.level.word(), self.text, remedy.unwrap_or_default())
    }

    /// An object with `level`, `finding` and `remedy`.
    pub fn to_json(&self) -> Value {
        json!({"level": self.level.word(), "finding": self.text, "remedy": self.remedy})
    }
}
