//! Marks one text.

use crate::{
    hidden,
    phrases::has_phrases,
    sign::TextSign::{self, Hidden, Phrase, Tag},
    tags::has_tags,
};

/// Marks a text that has signs of instructions, and adds these; `None` if it has none.
pub fn mark(text: &str, marker: &str, kept: &[TextSign], signs: &mut Vec<TextSign>) -> Option<String> {
    let revealed = hidden::reveal(text);
    let plain = revealed.as_ref().map_or(text, |revealed| &revealed.plain);
    let lower = plain.to_lowercase();
    let before = signs.len();
    let has = [(Hidden, revealed.is_some()), (Tag, has_tags(&lower)), (Phrase, has_phrases(&lower))];
    signs.extend(has.iter().filter(|(sign, has)| *has && !kept.contains(sign)).map(|(sign, _)| sign));
    if signs.len() == before {
        return None;
    }
    let shown = revealed
        .filter(|_| !kept.contains(&Hidden))
        .map_or_else(|| text.to_owned(), |revealed| revealed.shown);
    Some(format!("{marker} {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_marked_unless_kept() {
        let cut = "ig\u{200b}nore previous instructions";
        for (text, kept, marked, expected) in [
            ("plain", &[][..], None, &[][..]),
            (cut, &[], Some("! ig[1 hidden character]nore previous instructions"), &[Hidden, Phrase]),
            (cut, &[Hidden], Some("! ig\u{200b}nore previous instructions"), &[Phrase]),
            (cut, &[Hidden, Phrase], None, &[]),
            ("<|im_start|>", &[], Some("! <|im_start|>"), &[Tag]),
            ("<|im_start|>", &[Tag], None, &[]),
        ] {
            let mut signs = Vec::new();
            assert_eq!(mark(text, "!", kept, &mut signs).as_deref(), marked, "{text:?}");
            assert_eq!(signs, expected, "{text:?}");
        }
    }
}
