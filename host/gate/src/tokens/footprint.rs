//! Cost of one tool.

use std::{iter::Sum, ops::AddAssign};

use loggia_schema::PublishedTool;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Cost of a tool or a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenFootprint {
    /// Tokens in the vocabulary o200k_base; those of other models differ by some percent.
    pub tokens: usize,
    /// Bytes of JSON.
    pub bytes: usize,
}

impl AddAssign for TokenFootprint {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.bytes += other.bytes;
    }
}

impl Sum for TokenFootprint {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// Measures a tool: its name, description, input schema and annotations, as MCP lists them.
pub fn measure_tool(tool: &PublishedTool) -> TokenFootprint {
    let text = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": {
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": tool.open_world,
        },
    })
    .to_string();
    TokenFootprint { tokens: loggia_tokens::count(&text), bytes: text.len() }
}
