//! Texts as words, and words without their endings.

use snowball_stemmers_rs::{Algorithm, Stemmer};

/// A longer word is truncated: it is not a natural word.
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

/// Splits a text into words with their byte offsets: runs of letters and digits, and each character of scripts without
/// word separators. (Unicode's own rules would make every plugin 25 KB larger, for differences such as one word or two
/// in `don't`, which text and query share.)
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

/// Kana, and the signs of Chinese.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// One language for all texts: endings of others stay, which loses some hits and finds no wrong ones.
pub fn stemmer() -> Stemmer {
    Stemmer::create(Algorithm::English)
}

/// Normalised form of a word.
pub fn term(stemmer: &Stemmer, word: &str) -> String {
    let end = word.char_indices().nth(LONGEST).map_or(word.len(), |(at, _)| at);
    stemmer.stem(&word[..end].to_lowercase()).into_owned()
}
