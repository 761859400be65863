//! Values and names as a message shows them: short, on one line, nothing hidden.

use std::{fmt::Write as _, io};

use serde_json::Value;

use loggia_text::mention;
pub(crate) use loggia_text::shorten as cut;

use crate::model::sanitise::sanitise_line;

/// Characters of a value that a message shows.
pub(crate) const VALUE_CHARS: usize = 80;

/// A value as JSON, cut to [`GOT`] characters, however large it is.
pub(crate) fn value(value: &Value) -> String {
    json(value, VALUE_CHARS)
}

/// A value as JSON, cut to so many characters.
pub(crate) fn json(value: &Value, max: usize) -> String {
    /// Takes the beginning and then refuses, so that a large value is not serialised to its end.
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
        // Cut inside a character.
        Err(error) => std::str::from_utf8(&beginning.0[..error.valid_up_to()]).unwrap_or_default(),
    };
    let text = sanitise_line(text, usize::MAX);
    if whole { cut(&text, max) } else { cut(&format!("{text}…"), max) }
}

/// Whether a value takes at most so many bytes as JSON.
pub(crate) fn fits(value: &Value, max: usize) -> bool {
    serde_json::to_string(value).is_ok_and(|text| text.len() <= max)
}

/// A name that a caller sent.
pub(crate) fn name(text: &str) -> String {
    mention(text, VALUE_CHARS)
}

/// `` `a`, `b` and `c` ``.
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

/// An allowed value: a text bare where that is unambiguous, anything else as JSON.
pub(crate) fn allowed(value: &Value) -> String {
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        value => json(value, VALUE_CHARS),
    }
}

/// Whether a text can stand bare in a list or a signature without being taken for something else.
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
