//! The shape of a workflow's result.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::template::TextTemplate;

/// Shape of a workflow's result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultShape {
    /// Properties, in file order.
    pub properties: Vec<(String, ResultProperty)>,
    /// Properties that the result must have.
    pub required: Vec<String>,
}

/// Property of a result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultProperty {
    /// JSON Schema type.
    pub kind: PropertyType,
    /// Description for the caller.
    pub description: String,
    /// Source of the value.
    pub from: PropertySource,
    /// Value used if the source produces none.
    pub default: Option<Value>,
    /// Line number.
    pub line: usize,
}

/// Source of a property's value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum PropertySource {
    /// Template.
    Value(TextTemplate),
    /// Nested properties.
    Properties(Vec<(String, ResultProperty)>),
}

/// JSON Schema types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "JSON Schema's own words")]
pub enum PropertyType {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
}

impl PropertyType {
    /// Returns the name in JSON Schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
        }
    }
}
