//! Escaping of hidden characters, so that they show: for logs and terminals.

use std::{borrow::Cow, fmt::Write as _};

use crate::hidden::{breaks_line, is_hidden};

/// Escapes a text on one line: it can neither forge another line nor control a terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    escape_if(text, breaks_line, |c, out| out.extend(c.escape_default()))
}

/// Escapes a text and keeps its line breaks and tabs.
pub fn printable_text(text: &str) -> Cow<'_, str> {
    let odd = |c| breaks_line(c) && !matches!(c, '\n' | '\t');
    escape_if(text, odd, |c, out| out.extend(c.escape_default()))
}

/// Escapes serialised JSON for a terminal: JSON writers escape C0 only, and leave C1 (which has another CSI), bidi overrides and
/// invisible characters. The JSON stays equivalent, since such characters occur in strings only.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let odd = |c| is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}');
    escape_if(json, odd, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn escape_if(text: &str, odd: impl Fn(char) -> bool, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
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
