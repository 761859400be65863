//! JSON objects.

/// A JSON object, in the order in which it was written.
pub type Object = serde_json::Map<String, serde_json::Value>;
