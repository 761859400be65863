//! Writes JSON. Equal to what `serde_json` writes, but looks at eight bytes of a string at once: a long text is mostly
//! characters that stand for themselves.

use std::fmt::Write;

use serde_json::Value;

use super::escape::plain_prefix;
use crate::Object;

/// Appends a value.
pub fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        // Writing to a string does not fail.
        Value::Number(number) => drop(write!(out, "{number}")),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            let mut next = '[';
            for item in items {
                out.push(next);
                write_value(out, item);
                next = ',';
            }
            out.push_str(if next == '[' { "[]" } else { "]" });
        }
        Value::Object(members) => write_object(out, members),
    }
}

/// Appends an object.
pub fn write_object(out: &mut String, members: &Object) {
    let mut next = '{';
    for (name, value) in members {
        out.push(next);
        write_string(out, name);
        out.push(':');
        write_value(out, value);
        next = ',';
    }
    out.push_str(if next == '{' { "{}" } else { "}" });
}

/// Returns the text of an object.
pub fn object_text(members: &Object) -> String {
    let mut out = String::new();
    write_object(&mut out, members);
    out
}

/// Appends a string with its quotation marks.
pub fn write_string(out: &mut String, text: &str) {
    // A text of which one character in eight has an escape, such as JSON, is copied once.
    out.reserve(text.len() + text.len() / 8 + 2);
    out.push('"');
    let mut rest = text;
    loop {
        // Special bytes are ASCII, so this is a boundary of characters.
        let (plain, special) = rest.split_at(plain_prefix(rest.as_bytes()));
        out.push_str(plain);
        let Some(first) = special.chars().next() else { break };
        match first {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            control => {
                const DIGITS: [char; 16] =
                    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
                let code = control as usize;
                out.push_str("\\u00");
                out.push(DIGITS[code >> 4]);
                out.push(DIGITS[code & 15]);
            }
        }
        rest = &special[1..];
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_serde_json_writes_them() {
        let every: String = (0..0x3000).filter_map(char::from_u32).collect();
        for value in [
            json!(null),
            json!([true, false, [], {}, [[]], {"a": {}}]),
            json!([0, -1, u64::MAX, i64::MIN, 1.0, 0.1, -0.0, 1e300, 5e-324]),
            json!({"a": 1, "b\n\"": [1, "2"], "": null}),
            json!(every),
            json!("🦀 \u{1f}\u{7f}\u{80}\u{2028}"),
        ] {
            let mut written = String::new();
            write_value(&mut written, &value);
            assert_eq!(written, value.to_string());
        }
    }
}
