//! What one tool costs.

use std::{iter::Sum, ops::AddAssign};

use loggia_schema::PublishedTool;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What something costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// In the vocabulary o200k_base; other models' differ by some percent.
    pub tokens: usize,
    /// Of the JSON.
    pub bytes: usize,
}

impl AddAssign for Footprint {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.bytes += other.bytes;
    }
}

impl Sum for Footprint {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// What a tool costs: its name, description, input schema and annotations, as MCP lists them.
pub fn of(tool: &PublishedTool) -> Footprint {
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
    // Its tokeniser takes linear time, whatever the text: a plugin has a part in it.
    Footprint { tokens: bpe_openai::o200k_base().count(&text), bytes: text.len() }
}
