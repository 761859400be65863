//! Publishing options as words of the command line and of `loggia.toml`.

use clap::ValueEnum;
use loggia_schema::{SchemaForm, ToolSplit};

/// Form of the input schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormWord {
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

impl From<FormWord> for SchemaForm {
    fn from(word: FormWord) -> Self {
        match word {
            FormWord::Flat => Self::Flat,
            FormWord::Signatures => Self::Signatures,
            FormWord::Names => Self::Names,
            FormWord::Union => Self::Union,
            FormWord::Raw => Self::Raw,
            FormWord::Granular => Self::Granular,
        }
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
