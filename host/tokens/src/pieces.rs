//! Pieces of a text: words with the space before them, up to three digits, punctuation, runs of spaces. No token spans two.

use std::sync::LazyLock;

use regex_automata::{Anchored, Input, PatternID, meta::Regex};

/// A word, in the two ways in which upper and lower case may mix; a number; punctuation; line ends; spaces at the end.
const PIECE: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"|\s*[\r\n]+",
    r"|\s+$",
);
/// Spaces before a word: the last one belongs to the word. The vocabulary's own pattern is `\s+(?!\S)`, but an automaton
/// cannot look ahead, so this one includes the space that `split` gives back.
const SPACES: &str = r"\s+\s";
const SPACES_ID: PatternID = PatternID::new_unchecked(1);
/// A single space before something else.
const SPACE: &str = r"\s+";

static PIECES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new_many(&[PIECE, SPACES, SPACE]).expect("the patterns are valid"));

/// Iterates over the pieces of a text, which cover it.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let input = Input::new(text).span(start..text.len()).anchored(Anchored::Yes);
        // Every character begins a piece; without a match, the rest would be one.
        let end = match PIECES.search(&input) {
            Some(found) if found.pattern() == SPACES_ID => text[..found.end()].char_indices().next_back()?.0,
            Some(found) => found.end(),
            None => text.len(),
        };
        let piece = &text[start..end];
        start = end;
        (!piece.is_empty()).then_some(piece)
    })
}
