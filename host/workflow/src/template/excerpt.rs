//! Excerpts of a template's source that are safe to show in messages.

use loggia_text::mention;

/// Maximum length of an excerpt, in characters.
const EXCERPT: usize = 80;

/// Shortens a part of the source and removes its invisible characters, for use in a message.
pub(super) fn excerpt(text: &str) -> String {
    mention(text, EXCERPT)
}
