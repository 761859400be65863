//! The part of a text that shows the match.

use ranking_words::{stemmer, term, terms, words};

/// The part of the text, at most this many characters long, with most of the query's words; truncated ends get `…`, and
/// white space is collapsed.
///
/// ```
/// let text = "One two three four five six. The fox runs over the hill.";
/// assert_eq!(ranking::excerpt(text, "foxes", 24), "… The fox runs over …");
/// assert_eq!(ranking::excerpt(text, "nothing", 24), "One two three four …");
/// assert_eq!(ranking::excerpt("Short.", "fox", 24), "Short.");
/// ```
pub fn excerpt(text: &str, query: &str, chars: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= chars {
        return text;
    }
    // Room for the signs that it was cut.
    let room = chars.saturating_sub(4).max(1);
    let (from, to) = window(&text, query, room);
    let (before, after) = (if from > 0 { "… " } else { "" }, if to < text.len() { " …" } else { "" });
    [before, text[from..to].trim(), after].concat()
}

/// Maximum number of matches that are examined in a text.
const MATCHES: usize = 2000;

/// Byte range of the excerpt, at word boundaries if there are any.
fn window(text: &str, query: &str, room: usize) -> (usize, usize) {
    let wanted = terms(query);
    // Most words differ in the first letter, which stemming never changes.
    let begins = |word: &str| word.chars().flat_map(char::to_lowercase).next();
    let may_be = |word: &str| wanted.iter().any(|wanted| wanted.chars().next() == begins(word));
    let stemmer = stemmer();
    // Counted in characters, like the room.
    let mut chars = (0, 0);
    let mut place = |at: usize| {
        chars.1 += text[chars.0..at].chars().count();
        chars.0 = at;
        chars.1
    };
    let matches: Vec<(usize, String)> = words(text)
        .filter(|(_, word)| may_be(word))
        .map(|(at, word)| (at, term(&stemmer, word)))
        .filter(|(_, term)| wanted.contains(term))
        .take(MATCHES)
        .map(|(at, term)| (place(at), term))
        .collect();
    let value = |from: usize| {
        let here = matches[from..].iter().take_while(|(at, _)| at + 1 < matches[from].0 + room * 3 / 4);
        let mut terms: Vec<&String> = Vec::new();
        for (_, term) in here {
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        terms.len()
    };
    // The first of the best: texts state their subject at the beginning.
    let best = (0..matches.len()).rev().max_by_key(|at| value(*at)).map_or(0, |at| matches[at].0);
    let total = text.chars().count();
    let from = best.saturating_sub(room / 4).min(total.saturating_sub(room));
    let byte = |char: usize| text.char_indices().nth(char).map_or(text.len(), |(at, _)| at);
    let (from, to, best) = (byte(from), byte(from + room), byte(best));
    let from = if from == 0 { 0 } else { text[from..best].find(' ').map_or(from, |at| from + at + 1) };
    let to = if to == text.len() { to } else { text[from..to].rfind(' ').map_or(to, |at| from + at) };
    (from, to)
}
