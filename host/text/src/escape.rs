//! Text whose hidden characters are escaped, so that whoever reads it sees that they are there: for logs and terminals.

use std::{borrow::Cow, fmt::Write as _};

use crate::hidden::{is_hidden, is_odd};

/// On one line: it can neither forge another line nor steer a terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_odd, |c, out| out.extend(c.escape_default()))
}

/// The same, on as many lines as the text has; tabs are kept as well.
pub fn printable_text(text: &str) -> Cow<'_, str> {
    let odd = |c| is_odd(c) && !matches!(c, '\n' | '\t');
    escaped(text, odd, |c, out| out.extend(c.escape_default()))
}

/// JSON that was written already, for a terminal: writers of JSON escape C0 alone, and leave C1 (which holds another CSI),
/// bidi overrides and what is not drawn. It stays the same JSON, since such characters stand in strings only.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let odd = |c| is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}');
    escaped(json, odd, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn escaped(text: &str, odd: impl Fn(char) -> bool, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let Some(first) = text.find(&odd) else { return text.into() };
    let mut out = String::with_capacity(text.len() + 32);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if odd(c) { escape(c, &mut out) } else { out.push(c) }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugins_text_stays_on_its_line() {
        assert_eq!(printable("plain – text"), "plain – text");
        assert_eq!(printable("a\nINFO forged \u{1b}[31m"), "a\\nINFO forged \\u{1b}[31m");
        assert_eq!(printable("a\u{2028}b\u{202e}c\u{e0041}"), "a\\u{2028}b\\u{202e}c\\u{e0041}");
    }

    #[test]
    fn a_plugins_text_does_not_steer_the_terminal() {
        assert_eq!(printable_text("a\tb\nc\n"), "a\tb\nc\n");
        assert_eq!(printable_text("a\u{1b}[2J\r\nb\u{9b}31m"), "a\\u{1b}[2J\\r\nb\\u{9b}31m");
    }

    #[test]
    fn json_for_a_terminal_is_the_same_json() {
        let json = "{\n  \"a\": \"\u{9b}2J\u{202e}x\u{e0041} ä\"\n}";
        assert_eq!(printable_json(json), "{\n  \"a\": \"\\u009b2J\\u202ex\\udb40\\udc41 ä\"\n}");
        assert_eq!(printable_json("{\"a\":\"ä\\n\"}"), "{\"a\":\"ä\\n\"}");
    }
}
