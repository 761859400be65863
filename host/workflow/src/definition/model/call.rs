//! Calls of actions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::template::TextTemplate;

/// Call of another facade's action.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolCall {
    /// Tool as written: `facade.action`; a facade whose action is an argument; or `facade_action`.
    pub tool: String,
    /// Arguments, in file order.
    pub arguments: Vec<(String, ArgumentValue)>,
    /// Line number.
    pub line: usize,
}

/// Argument of a call, or a part of one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ArgumentValue {
    /// Literal value.
    Literal(Value),
    /// Text that contains template actions.
    Template(TextTemplate),
    /// List that contains a template.
    List(Vec<ArgumentValue>),
    /// Object that contains a template. Member names are not expanded.
    Record(Vec<(String, ArgumentValue)>),
}
