//! Options of how facades are published whose policies do not say.

use clap::Args;

use crate::{
    config::{FormWord, SplitWord},
    publish::Publisher,
};

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

impl Publishing {
    pub fn publisher(&self) -> Publisher {
        Publisher { form: self.schema.into(), split: self.split.into(), budget: self.token_budget }
    }
}
