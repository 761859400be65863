//! Characters that readers do not see.
//!
//! They must not reach a model: control characters and escapes repaint terminals, bidi overrides change the displayed order,
//! zero-width and tag characters smuggle instructions.

/// Tests whether a character is invisible or changes how others are displayed. Line breaks and tabs are not hidden.
///
/// Includes control characters and all of Unicode's default-ignorable characters, unassigned ones too: they are not drawn, but
/// a tokeniser reads them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        // C0, DEL and C1.
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}'
        // Soft hyphen, grapheme joiner, marks and overrides of direction.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Zero width, invisible operators, and letters that have no shape.
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{180b}'..='\u{180f}' | '\u{feff}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        // Variation selectors can carry bytes (those above U+FFFF are below); only U+FE0F is allowed: it makes an emoji coloured.
        | '\u{fe00}'..='\u{fe0e}'
        // Interlinear annotations and their neighbours, formatting of shorthand and music.
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags, variation selectors, and the unassigned characters beside them.
        | '\u{e0000}'..='\u{e0fff}')
}

/// Tests whether a text has no hidden characters.
pub fn is_clean(text: &str) -> bool {
    !text.chars().any(is_hidden)
}

/// Tests whether a character does not belong on one line of plain text: hidden characters, line breaks, tabs.
pub(crate) fn breaks_line(c: char) -> bool {
    c.is_control() || is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}')
}
