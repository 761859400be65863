//! Untrusted names and words in messages.

use crate::{cut::shorten, sanitise::sanitise_line};

/// Formats an untrusted name or word for a message: on one line, nothing hidden, at most `max` characters. Only the
/// beginning of a long one is read.
pub fn mention(text: &str, max: usize) -> String {
    let beginning = text.char_indices().nth(max + 1).map_or(text, |(end, _)| &text[..end]);
    shorten(&sanitise_line(beginning, usize::MAX), max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_mentioned_on_one_line() {
        assert_eq!(mention("a\u{1b}[31mb\n\u{202e}c", 80), "ab c");
        assert_eq!(mention(&"x".repeat(100_000), 4), "xxx…");
    }
}
