//! Removal of hidden characters, for models and for people who answer questions.

use crate::{cut::shorten_bytes, hidden::is_hidden};

/// Removes hidden characters and whole escape sequences, keeps line breaks, and truncates to `max` bytes at a character
/// boundary.
pub fn sanitise_text(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let kept = match c {
            '\x1b' => {
                rest = skip_escape(rest);
                continue;
            }
            '\u{9b}' => {
                rest = skip_parameters(rest);
                continue;
            }
            '\r' if rest.as_str().starts_with('\n') => continue,
            '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' => '\n',
            '\t' => ' ',
            c if is_hidden(c) => continue,
            c => c,
        };
        out.push(kept);
        if out.len() > max {
            shorten_bytes(&mut out, max);
            break;
        }
    }
    out
}

/// Sanitises as [`sanitise_text`], on one line: every run of white space becomes one space.
pub fn sanitise_line(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    for word in sanitise_text(text, text.len()).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > max {
            shorten_bytes(&mut out, max);
            break;
        }
    }
    out
}

/// Skips the rest of an ESC sequence: a control sequence, a string up to its terminator (or the end of its line), or one
/// character.
fn skip_escape(mut rest: std::str::Chars<'_>) -> std::str::Chars<'_> {
    match rest.clone().next() {
        Some('[') => {
            rest.next();
            skip_parameters(rest)
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let text = rest.as_str();
            let end = text.find(['\x07', '\x1b', '\n', '\u{9c}']).unwrap_or(text.len());
            let skip = match text.as_bytes().get(end) {
                Some(b'\x1b') if text[end..].starts_with("\x1b\\") => 2,
                Some(b'\x07') => 1,
                _ => 0,
            };
            text[end + skip..].chars()
        }
        Some(c) if c.is_ascii_graphic() => {
            rest.next();
            rest
        }
        _ => rest,
    }
}

/// Skips the parameters and the final byte of a control sequence.
fn skip_parameters(mut rest: std::str::Chars<'_>) -> std::str::Chars<'_> {
    while let Some(c @ ' '..='~') = rest.clone().next() {
        rest.next();
        if ('@'..='~').contains(&c) {
            break;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H37.
    #[test]
    fn what_cannot_be_seen_is_stripped() {
        for (text, expected) in [
            ("plain – ünï 漢字 🎉", "plain – ünï 漢字 🎉"),
            ("two\nlines\r\nthree\rfour\u{2028}five", "two\nlines\nthree\nfour\nfive"),
            ("tab\tbed", "tab bed"),
            ("bell\x07 null\0 del\x7f c1\u{90}", "bell null del c1"),
            ("red \x1b[31mtext\x1b[0m", "red text"),
            ("8-bit \u{9b}31mtext", "8-bit text"),
            ("title \x1b]0;owned\x07after", "title after"),
            ("link \x1b]8;;http://x\x1b\\after", "link after"),
            ("open \x1b]0;never closed\nnext line", "open \nnext line"),
            ("charset \x1b(B.", "charset B."),
            ("lone \x1b", "lone "),
            ("right\u{202e}left\u{202c}", "rightleft"),
            ("iso\u{2066}late\u{2069}", "isolate"),
            ("zero\u{200b}width\u{200d}\u{feff}", "zerowidth"),
            ("tag\u{e0041}\u{e0042}s", "tags"),
            ("vs\u{e0101}\u{fe01}", "vs"),
            ("not yet\u{e0080}\u{e01f0}\u{e0fff}\u{fff0}", "not yet"),
            ("khmer\u{17b4}\u{17b5} short\u{1bca0}hand", "khmer shorthand"),
            ("heart ❤\u{fe0f}", "heart ❤\u{fe0f}"),
        ] {
            assert_eq!(sanitise_text(text, usize::MAX), expected, "{text:?}");
        }
    }

    #[test]
    fn cuts_at_a_character_and_within_the_bound() {
        for (text, max, expected) in [
            ("short", 5, "short"),
            ("longer than that", 9, "longer…"),
            ("äöüäöü", 8, "äö…"),
            ("🎉🎉", 4, "…"),
            ("abc", 2, "ab"),
            ("漢", 2, ""),
            ("abc", 0, ""),
        ] {
            let cut = sanitise_text(text, max);
            assert_eq!(cut, expected, "{text} to {max}");
            assert!(cut.len() <= max);
        }
        assert_eq!(sanitise_line("  a \n\n b\t c ", usize::MAX), "a b c");
        assert_eq!(sanitise_line("one two three", 9), "one tw…");
    }
}
