//! Excerpts of a file that are safe to show in messages.

/// Maximum length of an excerpt, in characters.
const EXCERPT: usize = 64;

/// Shortens a text of the file and replaces its control characters, for use in a message.
pub(crate) fn excerpt(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    loggia_text::mention(&visible.take(EXCERPT + 1).collect::<String>(), EXCERPT)
}
