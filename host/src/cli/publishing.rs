//! Options of how facades are published whose policies do not say.

use clap::{Args, ValueEnum};
use loggia_schema::{Form, Split};

use crate::publish::Publisher;

/// How tools are shown to clients.
#[derive(Args)]
pub struct Publishing {
    /// What tools show of their actions, where a plugin's policy does not say
    #[arg(long, value_name = "FORM", default_value = "flat")]
    schema: FormWord,
    /// Publish what only reads as a tool of its own, where a plugin's policy does not say
    #[arg(long, value_name = "BY", default_value = "none")]
    split: SplitWord,
    /// What the whole tool list may take, in tokens: facades are shown in shorter forms until it fits
    #[arg(long, value_name = "N")]
    token_budget: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormWord {
    /// Every parameter once, with the actions that take it
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

#[derive(Clone, Copy, ValueEnum)]
enum SplitWord {
    /// One tool
    None,
    /// `notes` for what reads, `notes_write` for the rest
    Effect,
}

impl Publishing {
    pub fn publisher(&self) -> Publisher {
        let form = match self.schema {
            FormWord::Flat => Form::Flat,
            FormWord::Signatures => Form::Signatures,
            FormWord::Names => Form::Names,
            FormWord::Union => Form::Union,
            FormWord::Raw => Form::Raw,
            FormWord::Granular => Form::Granular,
        };
        let split = match self.split {
            SplitWord::None => Split::None,
            SplitWord::Effect => Split::Effect,
        };
        Publisher { form, split, budget: self.token_budget }
    }
}
