//! Texts as words, and words without their endings.

use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// A longer word is found by its beginning: it is no word of a language.
const LONGEST: usize = 64;

/// The words of a text, in order, as they are compared: in lower case, without the endings of English.
///
/// ```
/// assert_eq!(ranking::terms("Running, ran: the Runners' zwölf_boxes"), ["run", "ran", "the", "runner", "zwölf", "box"]);
/// ```
pub fn terms(text: &str) -> Vec<String> {
    let stemmer = stemmer();
    words(text).map(|(_, word)| term(&stemmer, word)).collect()
}

/// The words of a text, with the place of each, in bytes.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // What programs call names is words to who searches.
    text.unicode_word_indices().flat_map(|(at, word)| {
        let mut from = at;
        word.split('_').filter_map(move |part| {
            let here = from;
            from += part.len() + 1;
            (!part.is_empty()).then_some((here, part))
        })
    })
}

/// One language for all texts: endings of others stay, which costs some hits and finds nothing wrong.
pub fn stemmer() -> Stemmer {
    Stemmer::create(Algorithm::English)
}

/// A word as it is compared.
pub fn term(stemmer: &Stemmer, word: &str) -> String {
    let end = word.char_indices().nth(LONGEST).map_or(word.len(), |(at, _)| at);
    stemmer.stem(&word[..end].to_lowercase()).into_owned()
}
