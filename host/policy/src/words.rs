//! Publishing options as words of the command line and of `loggia.toml`.

use clap::ValueEnum;
use loggia_schema::{SchemaForm, ToolSplit};

/// Form of the input schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormWord {
    /// The form that serves the client best, by what is known of it
    Auto,
    /// All parameters once, each with the actions that use it
    Flat,
    /// One signature per action
    Signatures,
    /// Names only; `describe` shows the parameters
    Names,
    /// One schema per action
    Union,
    /// The schema of a one-action plugin, unchanged
    Raw,
    /// One tool per action
    Granular,
}

/// Number of tools of a facade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitWord {
    /// One tool
    None,
    /// `notes` for read actions, `notes_write` for the others
    Effect,
}

impl FormWord {
    /// Returns the form. `None`: each client has its own.
    pub fn form(self) -> Option<SchemaForm> {
        Some(match self {
            Self::Auto => return None,
            Self::Flat => SchemaForm::Flat,
            Self::Signatures => SchemaForm::Signatures,
            Self::Names => SchemaForm::Names,
            Self::Union => SchemaForm::Union,
            Self::Raw => SchemaForm::Raw,
            Self::Granular => SchemaForm::Granular,
        })
    }
}

impl From<SplitWord> for ToolSplit {
    fn from(word: SplitWord) -> Self {
        match word {
            SplitWord::None => Self::None,
            SplitWord::Effect => Self::Effect,
        }
    }
}
