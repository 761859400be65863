//! Paths into the parameters of a call, as messages show them: `items[3].name`.

use std::fmt::Write as _;

use jsonschema::paths::LocationSegment;
use serde_json::Value;

use crate::text::show;

/// Appends a segment to a path.
pub(crate) fn push(path: &mut String, segment: &LocationSegment<'_>) {
    let _ = match segment {
        LocationSegment::Index(index) => write!(path, "[{index}]"),
        LocationSegment::Property(name) if path.is_empty() => write!(path, "{}", show::name(name)),
        LocationSegment::Property(name) if name.contains(['.', '[', '"', ' ']) => {
            write!(path, "[{}]", show::json(&Value::String(name.to_string()), show::VALUE_CHARS))
        }
        LocationSegment::Property(name) => write!(path, ".{}", show::name(name)),
    };
}
