//! Escaping for HTML, JavaScript, URLs and quotes.

use std::borrow::Cow;

use crate::template::{error::EvalError, output::TextWriter};

/// Writes a text with some characters replaced.
pub(crate) fn replace_chars(
    text: &str,
    out: &mut TextWriter<'_>,
    instead: impl Fn(char) -> Option<Cow<'static, str>>,
) -> Result<(), EvalError> {
    out.budget.spend(text.len() / 16)?;
    let mut from = 0;
    for (at, c) in text.char_indices() {
        if let Some(instead) = instead(c) {
            out.push(&text[from..at])?;
            out.push(&instead)?;
            from = at + c.len_utf8();
        }
    }
    out.push(&text[from..])
}

pub(crate) fn write_html(text: &str, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    replace_chars(text, out, |c| {
        Some(Cow::Borrowed(match c {
            '"' => "&#34;",
            '\'' => "&#39;",
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '\0' => "\u{fffd}",
            _ => return None,
        }))
    })
}

pub(crate) fn write_js(text: &str, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    spend_lookups(text, out)?;
    replace_chars(text, out, |c| {
        Some(match c {
            '\\' => "\\\\".into(),
            '\'' => "\\'".into(),
            '"' => "\\\"".into(),
            '<' | '>' | '&' | '=' | '\0'..='\u{1f}' => format!("\\u{:04X}", u32::from(c)).into(),
            c if c.is_ascii() || is_printable(c) => return None,
            c => format!("\\u{:04X}", u32::from(c)).into(),
        })
    })
}

pub(crate) fn write_url_query(text: &str, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    replace_chars(text, out, |c| {
        Some(match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | '~' => return None,
            ' ' => "+".into(),
            c => c
                .encode_utf8(&mut [0; 4])
                .bytes()
                .map(|byte| format!("%{byte:02X}"))
                .collect::<String>()
                .into(),
        })
    })
}

/// Writes a text as Go's `%q`, or as `%+q` with `ascii`.
pub(crate) fn write_quoted(
    text: &str,
    quote: char,
    ascii: bool,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    spend_lookups(text, out)?;
    out.push_char(quote)?;
    replace_chars(text, out, |c| {
        Some(match c {
            '\\' => "\\\\".into(),
            c if c == quote => format!("\\{c}").into(),
            '\u{7}' => "\\a".into(),
            '\u{8}' => "\\b".into(),
            '\u{c}' => "\\f".into(),
            '\n' => "\\n".into(),
            '\r' => "\\r".into(),
            '\t' => "\\t".into(),
            '\u{b}' => "\\v".into(),
            '\0'..='\u{1f}' | '\u{7f}' => format!("\\x{:02x}", u32::from(c)).into(),
            c if c.is_ascii() || !ascii && is_printable(c) => return None,
            c if u32::from(c) < 0x1_0000 => format!("\\u{:04x}", u32::from(c)).into(),
            c => format!("\\U{:08x}", u32::from(c)).into(),
        })
    })?;
    out.push_char(quote)
}

/// Charges the lookup of printable characters, which ASCII characters do not need.
fn spend_lookups(text: &str, out: &TextWriter<'_>) -> Result<(), EvalError> {
    out.budget.spend(text.bytes().filter(|byte| !byte.is_ascii()).count() / 2)
}

/// Returns true for a visible character. Rust's debug escaping decides; the preceding letter lets combining marks
/// count as visible.
pub(crate) fn is_printable(c: char) -> bool {
    let mut text = [0; 5];
    text[0] = b'a';
    let length = 1 + c.encode_utf8(&mut text[1..]).len();
    let text = std::str::from_utf8(&text[..length]).unwrap_or_default();
    text.escape_debug().nth(1) == Some(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::output::RunBudget;

    fn made(write: impl Fn(&mut TextWriter<'_>) -> Result<(), EvalError>) -> String {
        let budget = RunBudget::new();
        let mut out = TextWriter::for_function(&budget, 1000);
        write(&mut out).unwrap();
        out.written
    }

    #[test]
    fn text_is_escaped_as_go_does() {
        let check = |text: &str, expected: [&str; 4]| {
            assert_eq!(made(|out| write_html(text, out)), expected[0]);
            assert_eq!(made(|out| write_js(text, out)), expected[1]);
            assert_eq!(made(|out| write_url_query(text, out)), expected[2]);
            assert_eq!(made(|out| write_quoted(text, '"', false, out)), expected[3]);
        };
        check(
            "a='\"<&>\n",
            [
                "a=&#39;&#34;&lt;&amp;&gt;\n",
                r#"a\u003D\'\"\u003C\u0026\u003E\u000A"#,
                "a%3D%27%22%3C%26%3E%0A",
                r#""a='\"<&>\n""#,
            ],
        );
        check("é \u{200b}", ["é \u{200b}", "é \\u200B", "%C3%A9+%E2%80%8B", "\"é \\u200b\""]);
        check("e\u{301}\u{7f}", ["e\u{301}\u{7f}", "e\u{301}\u{7f}", "e%CC%81%7F", "\"e\u{301}\\x7f\""]);
        assert_eq!(made(|out| write_quoted("é😀", '"', true, out)), r#""\u00e9\U0001f600""#);
    }
}
