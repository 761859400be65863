//! The shape of a workflow's result.

use serde_json::Value;

use crate::template::Template;

/// What a workflow's result is made of.
#[derive(Debug, Clone)]
pub struct ResultShape {
    /// In their order.
    pub properties: Vec<(String, ResultProperty)>,
    /// Those without which the result is not one.
    pub required: Vec<String>,
}

/// One part of a result.
#[derive(Debug, Clone)]
pub struct ResultProperty {
    /// JSON Schema's word for what it is.
    pub kind: PropertyType,
    /// What it is for.
    pub description: String,
    /// Where it comes from.
    pub from: PropertySource,
    /// Where its value cannot be made.
    pub default: Option<Value>,
    /// Where it is written.
    pub line: usize,
}

/// Where a part of a result comes from.
#[derive(Debug, Clone)]
pub enum PropertySource {
    /// A template.
    Value(Template),
    /// Parts of its own.
    Properties(Vec<(String, ResultProperty)>),
}

/// JSON Schema's types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// JSON Schema's word.
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
