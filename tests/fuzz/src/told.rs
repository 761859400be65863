//! Invariants of texts for models, people and terminals.
//!
//! The list of characters is Unicode's own, not the host's, so that each checks the other.

/// Tests whether a character is invisible or alters the display of others: control characters, characters that Unicode
/// 17 calls default-ignorable or bidirectional controls, and interlinear annotations. Line breaks, and the variation
/// selector for coloured emoji, are allowed.
pub fn is_hidden(c: char) -> bool {
    if matches!(c, '\n' | '\u{fe0f}') {
        return false;
    }
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Checks that a text has no hidden characters and at most this many bytes.
#[track_caller]
pub fn fit(what: &str, text: &str, most: usize) {
    clean(what, text);
    assert!(text.len() <= most, "{what} has {} bytes, more than {most}: {:.400}", text.len(), text);
}

/// Checks that a text has no hidden characters.
#[track_caller]
pub fn clean(what: &str, text: &str) {
    if let Some(c) = text.chars().find(|c| is_hidden(*c)) {
        panic!("{what} holds {:?}: {:?}", c, text.chars().take(400).collect::<String>());
    }
}

/// Like [`fit`], for a single line.
#[track_caller]
pub fn line(what: &str, text: &str, most: usize) {
    fit(what, text, most);
    assert!(!text.contains(['\n', '\u{2028}', '\u{2029}']), "{what} has several lines: {text:?}");
}
