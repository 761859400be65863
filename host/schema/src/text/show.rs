//! Values and names in messages: short, on one line, with invisible characters removed.

use std::{fmt::Write as _, io};

use serde_json::Value;

use loggia_text::mention;
pub(crate) use loggia_text::shorten as cut;

use crate::model::sanitise::sanitise_line;

/// Characters of a value in a message.
pub(crate) const VALUE_CHARS: usize = 80;

/// Renders a value as JSON of at most [`VALUE_CHARS`] characters.
pub(crate) fn value(value: &Value) -> String {
    json(value, VALUE_CHARS)
}

/// Renders a value as JSON of at most `max` characters. A large value is not serialised to its end.
pub(crate) fn json(value: &Value, max: usize) -> String {
    /// A writer that fails after so many bytes.
    struct Beginning(Vec<u8>, usize);
    impl io::Write for Beginning {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.len() >= self.1 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            let room = bytes.len().min(self.1 - self.0.len());
            self.0.extend_from_slice(&bytes[..room]);
            Ok(room)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut beginning = Beginning(Vec::new(), (max + 1) * 4);
    let whole = serde_json::to_writer(&mut beginning, value).is_ok();
    let text = match std::str::from_utf8(&beginning.0) {
        Ok(text) => text,
        // The cut is inside a character.
        Err(error) => std::str::from_utf8(&beginning.0[..error.valid_up_to()]).unwrap_or_default(),
    };
    let text = sanitise_line(text, usize::MAX);
    if whole { cut(&text, max) } else { cut(&format!("{text}…"), max) }
}

/// Whether a value takes at most `max` bytes as JSON.
pub(crate) fn fits(value: &Value, max: usize) -> bool {
    serde_json::to_string(value).is_ok_and(|text| text.len() <= max)
}

/// Renders a name from an untrusted source.
pub(crate) fn name(text: &str) -> String {
    mention(text, VALUE_CHARS)
}

/// Renders a list of names: `` `a`, `b` and `c` ``.
pub(crate) fn names<T: AsRef<str>>(names: &[T], conjunction: &str) -> String {
    let mut out = String::new();
    for (index, name) in names.iter().enumerate() {
        match index {
            0 => {}
            _ if index + 1 == names.len() => {
                let _ = write!(out, " {conjunction} ");
            }
            _ => out.push_str(", "),
        }
        let _ = write!(out, "`{}`", name.as_ref());
    }
    out
}

/// Renders an allowed value: a string without quotes if that is unambiguous, anything else as JSON.
pub(crate) fn allowed(value: &Value) -> String {
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        value => json(value, VALUE_CHARS),
    }
}

/// Whether a string needs no quotes in a list or a signature.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && !matches!(
            text,
            "true" | "false" | "null" | "any" | "string" | "integer" | "number" | "boolean" | "object"
        )
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '.')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '+'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_cut_to_eighty_characters() {
        for (shown, expected) in [
            (json!("standard"), r#""standard""#.to_owned()),
            (json!([1, {"a": null}]), r#"[1,{"a":null}]"#.to_owned()),
            (json!("ä".repeat(1_000_000)), format!("\"{}…", "ä".repeat(78))),
            (json!("a\nb\u{202e}"), r#""a\nb""#.to_owned()),
        ] {
            assert_eq!(value(&shown), expected);
        }
        assert_eq!(name(&"x".repeat(500)).chars().count(), VALUE_CHARS);
    }
}
