//! Loops over a list.

use serde::{Deserialize, Serialize};

use super::{call::ToolCall, on_error::OnError};
use crate::template::TextTemplate;

/// Call for each item of a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ForEach {
    /// Template that must produce a list.
    pub collection: TextTemplate,
    /// Name of the item in templates: `.forEach.<item>`.
    pub item: String,
    /// Maximum number of concurrent calls.
    pub parallel: usize,
    /// Maximum number of items.
    pub iterations: usize,
    /// Call made for each item.
    pub call: ToolCall,
    /// Policy for a failed item.
    pub on_error: OnError,
}
