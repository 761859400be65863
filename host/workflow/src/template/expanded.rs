//! Results of an expansion.

use serde_json::Value;

/// Result of an expansion.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpandedText {
    /// Text as Go prints it.
    pub text: String,
    /// Value of a template that consists of one action. `null` is a value; a missing value is `None`.
    pub value: Option<Value>,
}
