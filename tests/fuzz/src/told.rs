//! Texts that a model, a person or a terminal reads: what must hold of each.
//!
//! The characters are Unicode's own list, not the host's, so that the one checks the other.

/// Whether a reader does not see this character, or sees others wrongly because of it: control characters, those that
/// Unicode 17 calls default-ignorable or bidirectional controls, and interlinear annotations. A line break, and the one
/// variation selector that makes an emoji coloured, are fine.
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

/// A text that shows everything that it holds, in at most so many bytes.
#[track_caller]
pub fn fit(what: &str, text: &str, most: usize) {
    clean(what, text);
    assert!(text.len() <= most, "{what} has {} bytes, more than {most}: {:.400}", text.len(), text);
}

/// A text that shows everything that it holds.
#[track_caller]
pub fn clean(what: &str, text: &str) {
    if let Some(c) = text.chars().find(|c| is_hidden(*c)) {
        panic!("{what} holds {:?}: {:?}", c, text.chars().take(400).collect::<String>());
    }
}

/// The same on one line.
#[track_caller]
pub fn line(what: &str, text: &str, most: usize) {
    fit(what, text, most);
    assert!(!text.contains(['\n', '\u{2028}', '\u{2029}']), "{what} has several lines: {text:?}");
}
