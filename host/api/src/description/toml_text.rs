//! Strings in TOML, always written the same way: the same description gives the same bytes.

use std::fmt::Write;

use serde_json::Value;

/// Writes a text as a basic string or, if it has several lines, as a multi-line one.
pub(super) fn text(text: &str) -> String {
    let is_block = text.contains('\n');
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str(if is_block { "\"\"\"\n" } else { "\"" });
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push_str(if is_block { "\"\"\"" } else { "\"" });
    out
}

/// Writes a value as compact JSON in a literal string, which needs no escapes of TOML's: an apostrophe can stand only in
/// JSON's strings, which have an escape of their own for it.
pub(super) fn json(value: &Value) -> String {
    let mut out = String::from("'");
    for c in value.to_string().chars() {
        match c {
            '\'' => out.push_str("\\u0027"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Writes a key, in quotes where it needs them.
pub(super) fn key(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { text(&key.replace('\n', " ")) }
}
