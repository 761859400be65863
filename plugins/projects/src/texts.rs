//! Texts of an item: what it is about, how it is done, and how it is checked.

use loggia_sdk::prelude::*;

use crate::validation::{VALIDATIONS, Validation};

/// Characters of a title.
pub const TITLE: usize = 200;
/// Characters of a summary.
pub const SUMMARY: usize = 2_000;
/// Characters of instructions.
pub const INSTRUCTIONS: usize = 16_000;
/// Acceptance criteria of an item.
pub const ACCEPTANCE: usize = 20;
/// Files of a task.
pub const FILES: usize = 50;
/// Characters of an acceptance criterion, and of a file's path.
const LINE: usize = 500;

/// Texts of an item, in a row of their own, so that states can be read and changed without them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Texts {
    /// Id of the epic that the item belongs to.
    pub epic: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validations: Vec<Validation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<Completion>,
}

/// How a task was completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    /// RFC 3339, UTC.
    pub at: String,
    /// Who confirmed its manual validations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_by: Option<String>,
    /// Tasks and features that were open, with `ignore_dependencies`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// Changes of texts: only the given ones change, an empty one is removed.
#[derive(Debug, Clone, Default)]
pub struct TextChange {
    pub summary: Option<String>,
    pub instructions: Option<String>,
    pub acceptance: Option<Vec<String>>,
    pub files: Option<Vec<String>>,
    pub validations: Option<Vec<Validation>>,
}

impl TextChange {
    pub fn is_empty(&self) -> bool {
        let Self { summary, instructions, acceptance, files, validations } = self;
        summary.is_none()
            && instructions.is_none()
            && acceptance.is_none()
            && files.is_none()
            && validations.is_none()
    }

    /// Checks lengths.
    ///
    /// # Errors
    ///
    /// `invalid_params`, which begins with the parameter's name.
    pub fn check(&self) -> Result<()> {
        at_most("summary", self.summary.as_deref(), SUMMARY)?;
        at_most("instructions", self.instructions.as_deref(), INSTRUCTIONS)?;
        lines("acceptance", self.acceptance.as_deref(), ACCEPTANCE)?;
        lines("files", self.files.as_deref(), FILES)?;
        let validations = self.validations.as_deref().unwrap_or_default();
        if validations.len() > VALIDATIONS {
            let message = format!("`validations` has {}: at most {VALIDATIONS}", validations.len());
            return Err(Failure::invalid_params(message).hint("Split the task."));
        }
        validations.iter().try_for_each(Validation::check)
    }

    /// Applies the changes.
    pub fn apply(self, texts: &mut Texts) {
        fn set<T>(to: &mut T, from: Option<T>) {
            if let Some(from) = from {
                *to = from;
            }
        }
        set(&mut texts.summary, self.summary);
        set(&mut texts.instructions, self.instructions);
        set(&mut texts.acceptance, self.acceptance);
        set(&mut texts.files, self.files);
        set(&mut texts.validations, self.validations);
    }
}

/// Trims a title.
///
/// # Errors
///
/// `invalid_params` if it is empty, too long, or has several lines.
pub fn tidy_title(title: &str) -> Result<String> {
    let title = title.trim();
    let failure = match title.chars().count() {
        0 => "`title` is empty".to_owned(),
        length if length > TITLE => format!("`title` has {length} characters: at most {TITLE}"),
        _ if title.contains(char::is_control) => "`title` has several lines or control characters".to_owned(),
        _ => return Ok(title.to_owned()),
    };
    Err(Failure::invalid_params(failure).hint("A title is one line; details belong into `summary`."))
}

fn at_most(name: &str, text: Option<&str>, most: usize) -> Result<()> {
    let length = text.map_or(0, |text| text.chars().count());
    if length <= most {
        return Ok(());
    }
    let failure = Failure::invalid_params(format!("`{name}` has {length} characters: at most {most}"));
    Err(failure.hint("Shorten it, or keep the text in a file and name it in `files`."))
}

fn lines(name: &str, lines: Option<&[String]>, most: usize) -> Result<()> {
    let lines = lines.unwrap_or_default();
    if lines.len() > most {
        return Err(Failure::invalid_params(format!("`{name}` has {} entries: at most {most}", lines.len())));
    }
    match lines.iter().find(|line| line.trim().is_empty() || line.chars().count() > LINE) {
        Some(_) => {
            Err(Failure::invalid_params(format!("an entry of `{name}` is empty or longer than {LINE}")))
        }
        None => Ok(()),
    }
}
