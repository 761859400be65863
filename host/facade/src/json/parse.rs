//! Texts as values, within a bound.

use std::fmt;

use serde_json::Value;

/// Values in one text: numbers, strings, lists, objects.
pub const VALUES: usize = 100_000;

/// Why a text was not parsed.
#[derive(Debug)]
pub enum JsonError {
    /// It holds more values than [`VALUES`].
    Values,
    /// It is no JSON.
    Syntax(serde_json::Error),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values => write!(f, "it holds more than {VALUES} values"),
            Self::Syntax(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for JsonError {}

/// Parses a text, if it does not hold too many values.
///
/// # Errors
///
/// If it does, or is no JSON.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    if has_many_values(text.as_bytes()) {
        return Err(JsonError::Values);
    }
    serde_json::from_str(text).map_err(JsonError::Syntax)
}

/// Whether a text contains more values than [`VALUES`]. An empty list or object counts twice. Allocates nothing, and
/// does not check that the text is JSON.
pub fn has_many_values(text: &[u8]) -> bool {
    has_more_values(text, VALUES)
}

/// Whether a text holds more values than `most`: [`has_many_values`] with a bound of the caller's.
pub fn has_more_values(text: &[u8], most: usize) -> bool {
    // Each value but the last takes a byte of its own and one that separates it.
    if text.len() < most {
        return false;
    }
    let (mut values, mut in_string, mut escaped) = (1_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values > most
}

/// Whether the text of a value has more than about `most` bytes. Looks at no more of it than that, and does not count
/// digits and escapes.
pub fn is_longer_than(value: &Value, most: usize) -> bool {
    fn rest(value: &Value, most: usize) -> Option<usize> {
        let most = most.checked_sub(2)?;
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => most.checked_sub(2),
            Value::String(text) => most.checked_sub(text.len()),
            Value::Array(items) => items.iter().try_fold(most, |most, item| rest(item, most)),
            Value::Object(members) => members
                .iter()
                .try_fold(most, |most, (name, value)| rest(value, most.checked_sub(name.len() + 2)?)),
        }
    }
    rest(value, most).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_found_without_rendering() {
        let long = "x".repeat(1000);
        for (value, is_long) in [
            (serde_json::json!(null), false),
            (serde_json::json!({"a": [1, 2, {"b": "c"}]}), false),
            (serde_json::json!(long), true),
            (serde_json::json!({"a": [{ "b": long }]}), true),
            (serde_json::json!({ long.clone(): 1 }), true),
            (serde_json::json!(vec![0; 1000]), true),
        ] {
            assert_eq!(is_longer_than(&value, 900), is_long, "{value:.60}");
            assert!(!is_longer_than(&value, 10_000));
        }
    }

    #[test]
    fn values_are_counted_before_they_are_parsed() {
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        for (text, many) in [
            (list("1", VALUES - 1), false),
            (list("1", VALUES), true),
            (list("{}", VALUES / 2), true),
            (list("[]", VALUES / 4), false),
            (list(r#"{"a":1}"#, VALUES), true),
            // Within strings nothing counts, whatever they escape.
            (list(r#""a,b,c,[{\\\",,,\\""#, VALUES / 2), false),
            (format!("{:?}", ",".repeat(VALUES * 2)), false),
        ] {
            assert_eq!(has_many_values(text.as_bytes()), many, "{text:.40}");
            assert_eq!(matches!(parse(&text), Err(JsonError::Values)), many, "{text:.40}");
            assert!(many || parse(&text).is_ok(), "{text:.40}");
        }
        assert!(matches!(parse("rubbish"), Err(JsonError::Syntax(_))));
    }
}
