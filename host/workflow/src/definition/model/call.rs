//! Calls of actions.

use serde_json::Value;

use crate::template::Template;

/// A call of another facade's action.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// As it is written: `facade.action`; a facade, whose action is an argument; or `facade_action`.
    pub tool: String,
    /// The arguments, in their order.
    pub arguments: Vec<(String, ArgumentValue)>,
    /// Where it is written.
    pub line: usize,
}

/// An argument, or a part of one.
#[derive(Debug, Clone)]
pub enum ArgumentValue {
    /// As it is.
    Literal(Value),
    /// A text with actions in it.
    Template(Template),
    /// A list with a template somewhere in it.
    List(Vec<ArgumentValue>),
    /// An object with a template somewhere in it. Names are not expanded.
    Record(Vec<(String, ArgumentValue)>),
}
