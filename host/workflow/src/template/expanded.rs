//! Results of an expansion.

use serde_json::Value;

/// What came of a template.
#[derive(Debug, Clone, PartialEq)]
pub struct Expanded {
    /// As Go prints it.
    pub text: String,
    /// The value itself, where the template is one action and nothing else, and its value is there: `null` is a value,
    /// what is missing is none.
    pub value: Option<Value>,
}
