//! Loops over a list.

use super::{call::ToolCall, on_error::OnError};
use crate::template::Template;

/// A call for each item of a list.
#[derive(Debug, Clone)]
pub struct ForEach {
    /// Must come out as a list.
    pub collection: Template,
    /// The item's name in templates: `.forEach.<item>`.
    pub item: String,
    /// Calls under way at once.
    pub parallel: usize,
    /// Items at most.
    pub iterations: usize,
    /// The call.
    pub call: ToolCall,
    /// What follows a failure of one item.
    pub on_error: OnError,
}
