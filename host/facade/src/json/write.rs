//! Writes JSON. Equal to what `serde_json` writes, but looks at eight bytes of a string at once: a long text is mostly
//! characters that stand for themselves, or JSON.

use std::fmt::Write;

use serde_json::Value;

use super::escape::{FORMS, LONGEST_FORM, plain_prefix};
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
    let mut room = None;
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.floor_char_boundary(PART));
        rest = after;
        if plain_prefix(part.as_bytes()) == part.len() {
            out.push_str(part);
        } else if part.is_ascii() {
            out.push_str(escape_ascii(part, room.get_or_insert([0; ROOM])));
        } else {
            write_pieces(out, part);
        }
    }
    out.push('"');
}

/// Bytes of a string that are escaped at once.
const PART: usize = 256;
/// Room for the longest forms of all bytes of a part, the last of which is written as a whole word.
const ROOM: usize = PART * 6 + LONGEST_FORM;

/// Escapes an ASCII text of at most [`PART`] bytes. JSON in a JSON string has an escape in every few bytes, so that to copy what lies
/// between them takes longer than to look up each byte.
fn escape_ascii<'a>(part: &str, room: &'a mut [u8; ROOM]) -> &'a str {
    let mut end = 0;
    let mut put = |bytes: &[u8; LONGEST_FORM], length: u8| {
        if let Some(place) = room.get_mut(end..end + LONGEST_FORM) {
            place.copy_from_slice(bytes);
            end += usize::from(length);
        }
    };
    let (words, last) = part.as_bytes().as_chunks();
    for word in words {
        if plain_prefix(word) == word.len() {
            put(word, LONGEST_FORM as u8);
        } else {
            word.iter().map(|byte| &FORMS[usize::from(*byte)]).for_each(|form| put(&form.bytes, form.length));
        }
    }
    last.iter().map(|byte| &FORMS[usize::from(*byte)]).for_each(|form| put(&form.bytes, form.length));
    // ASCII is UTF-8.
    str::from_utf8(&room[..end]).unwrap_or_default()
}

/// Appends what lies between two escapes at once.
fn write_pieces(out: &mut String, mut rest: &str) {
    loop {
        // Special bytes are ASCII, so this is a boundary of characters.
        let (plain, special) = rest.split_at(plain_prefix(rest.as_bytes()));
        out.push_str(plain);
        let Some(first) = special.bytes().next() else { return };
        let form = FORMS[usize::from(first)];
        out.extend(form.bytes[..usize::from(form.length)].iter().map(|byte| char::from(*byte)));
        rest = &special[1..];
    }
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

    #[test]
    fn strings_are_written_alike_wherever_their_parts_end() {
        let pieces = ["\"", "\\", "\n", "\u{1}", "\u{1f}", "a", "{\"id\": 1}", "é", "知", "🦀"];
        for (first, second) in pieces.iter().flat_map(|one| pieces.iter().map(move |two| (one, two))) {
            for filler in ["x", "é", "\\\""] {
                for length in (0..12).chain(PART - 12..PART + 4).chain([2 * PART - 1, 2 * PART]) {
                    let text = format!(
                        "{}{first}{}{second}",
                        filler.repeat(length / filler.len()),
                        "y".repeat(length % 8)
                    );
                    let mut written = String::new();
                    write_string(&mut written, &text);
                    assert_eq!(
                        written,
                        serde_json::to_string(&text).unwrap(),
                        "{first:?} {second:?} {length} of {filler:?}"
                    );
                }
            }
        }
    }
}
