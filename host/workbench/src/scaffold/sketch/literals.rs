//! What Python and JavaScript write alike: literals of texts, and paths made of them.

use super::plan::{PathPart, PathPiece};

/// A literal: both languages read JSON's, of a text without control characters.
pub fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Adds the open parts of a path to a request. `read` is the expression of a parameter as a text.
pub fn path(parts: &[PathPart], read: impl Fn(&str) -> String) -> String {
    let part = |part: &PathPart| match part {
        PathPart::Fixed(fixed) => text(fixed),
        PathPart::Open(pieces) => {
            let pieces = pieces.iter().map(|piece| match piece {
                PathPiece::Text(fixed) => text(fixed),
                PathPiece::Param(ident) => read(ident),
            });
            pieces.collect::<Vec<_>>().join(" + ")
        }
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    if parts.is_empty() { String::new() } else { format!(".path({})", parts.join(", ")) }
}
