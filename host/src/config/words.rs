//! How facades are published, in the words of the command line.

use clap::ValueEnum;
use loggia_schema::{SchemaForm, ToolSplit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What tools show of their actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FormWord {
    /// Every parameter once, with the actions that take it
    #[default]
    Flat,
    /// One line for each action
    Signatures,
    /// Names only; the rest by `describe`
    Names,
    /// One schema for each action
    Union,
    /// A one-action plugin's schema as it gave it
    Raw,
    /// Each action as a tool of its own
    Granular,
}

/// Into how many tools a facade is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SplitWord {
    /// One tool
    #[default]
    None,
    /// `notes` for what reads, `notes_write` for the rest
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
