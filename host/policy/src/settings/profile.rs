//! `[profile.NAME]`.

use super::{auth::scopes, table::table, value::text};
use crate::{
    document::tree::Text,
    model::AccessScope,
    words::{FormWord, SplitWord},
};

/// Longest text for models, in bytes: the server's own follows it, and clients cut both together at 2 KB.
const MAX_INSTRUCTIONS: usize = 1000;

table! {
    /// A part of the tools, for one kind of agent: over HTTP at `/mcp/NAME`, over stdio with `--profile NAME`. What is not
    /// set is as in `[publish]`. A profile chooses what clients see; what they may do is limited by their tokens' scopes.
    pub struct Profile {
        /// What clients see and call: `facade:action`, `facade:*`, or `*`. These actions may call others within their grants.
        tools: Vec<AccessScope>, scopes;
        /// What input schemas show of a tool's actions.
        schema: Option<FormWord> = None;
        /// Whether read actions are published as a separate tool.
        split: Option<SplitWord> = None;
        /// Maximum size of the tool list in tokens.
        token_budget: Option<usize> = None, super::quantity::within(1, usize::MAX);
        /// Text for the model, in front of the server's instructions.
        instructions: Option<String> = None, text(instructions);
    }
}

fn instructions(text: &Text) -> Result<String, String> {
    match text.value.len() <= MAX_INSTRUCTIONS {
        true => Ok(text.value.trim().to_owned()),
        false => Err(format!("has more than {MAX_INSTRUCTIONS} bytes, and clients cut instructions at 2 KB")),
    }
}
