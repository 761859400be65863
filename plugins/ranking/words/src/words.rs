//! Splits texts into words, and removes the endings of words.

use snowball_stemmers_rs::{Algorithm, Stemmer};

/// Characters of a word that are compared: longer ones are not words of a language.
const LONGEST: usize = 64;

/// Returns the words of a text, in order, in the form in which they are compared: in lower case, without English
/// endings.
///
/// ```
/// assert_eq!(ranking_words::terms("Running, ran: the Runners' zwölf_boxes"), ["run", "ran", "the", "runner", "zwölf", "box"]);
/// ```
pub fn terms(text: &str) -> Vec<String> {
    let stemmer = stemmer();
    words(text).map(|(_, word)| term(&stemmer, word)).collect()
}

/// Splits a text into words, each with its offset in bytes: sequences of letters and digits, and single characters of
/// scripts without spaces between words. (Unicode's own rules would make every plugin 25 KB larger, for differences
/// such as one word or two in `don't`, which text and query share.)
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (from, first) = chars.by_ref().find(|(_, c)| c.is_alphanumeric())?;
        let mut to = from + first.len_utf8();
        if !stands_alone(first) {
            while let Some((at, c)) = chars.next_if(|(_, c)| c.is_alphanumeric() && !stands_alone(*c)) {
                to = at + c.len_utf8();
            }
        }
        Some((from, &text[from..to]))
    })
}

/// Whether a character is a word of its own: kana, and Chinese characters.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Creates the stemmer for all texts. Endings of other languages than English stay, which costs some hits and finds
/// nothing wrong.
pub fn stemmer() -> Stemmer {
    Stemmer::create(Algorithm::English)
}

/// Returns a word in the form in which it is compared.
pub fn term(stemmer: &Stemmer, word: &str) -> String {
    let end = word.char_indices().nth(LONGEST).map_or(word.len(), |(at, _)| at);
    stemmer.stem(&word[..end].to_lowercase()).into_owned()
}
