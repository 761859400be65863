//! Characters that a reader does not see.
//!
//! They must not reach a model: control characters and escapes repaint terminals, bidi overrides show another order than
//! the one that is read, zero-width and tag characters smuggle instructions.

/// Whether a reader would not see this character, or would see others wrongly because of it. Line breaks and tabs are
/// not among them.
///
/// Beside control characters this is all that Unicode calls default-ignorable, those without a meaning yet included: they
/// are drawn as nothing, and a tokeniser reads them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        // C0, DEL and C1.
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}'
        // Soft hyphen, grapheme joiner, marks and overrides of direction.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Zero width, invisible operators, and letters that have no shape.
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{180b}'..='\u{180f}' | '\u{feff}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        // Variation selectors carry bytes (those above U+FFFF stand below); U+FE0F alone is what makes an emoji coloured.
        | '\u{fe00}'..='\u{fe0e}'
        // Interlinear annotations and their neighbours, formatting of shorthand and music.
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags, variation selectors, and what else may come to stand beside them.
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a text shows everything that it holds.
pub fn is_clean(text: &str) -> bool {
    !text.chars().any(is_hidden)
}

/// Whether a character does not belong on one line of plain text: it is hidden, or begins another line, or is a tab.
pub(crate) fn is_odd(c: char) -> bool {
    c.is_control() || is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}')
}
