//! A query as a regular expression, for files.

use std::collections::BTreeSet;

/// Words that are in every text.
const COMMON: &str = " a about all also am an and any are as at be been but by can could did do does for from get had has \
    have he her him his how i if in into is it its just may me my no not of on or our out she should so some than that the \
    their them then there they this to us was we were what when where which who why will with would you your ";

/// Maximum number of words.
const WORDS: usize = 16;

/// Builds an expression that matches lines with any of the query's words, ignoring case and endings; `None` for a query
/// without words.
pub fn of(query: &str) -> Option<String> {
    let words: Vec<String> = query
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_rare = |word: &&String| word.chars().nth(1).is_some() && !COMMON.contains(&format!(" {word} "));
    let rare: Vec<&String> = words.iter().filter(is_rare).collect();
    // A query of only letters and common words means them.
    let wanted = if rare.is_empty() { words.iter().collect() } else { rare };
    let mut seen = BTreeSet::new();
    let stems: Vec<String> = wanted
        .into_iter()
        .map(|word| stem(word))
        .filter(|stem| seen.insert(stem.clone()))
        .take(WORDS)
        .collect();
    let patterns: Vec<String> = stems.iter().map(|stem| stem.chars().map(letter).collect()).collect();
    let any = patterns.join("|");
    // The expressions of `files` only detect ASCII word boundaries.
    let begins = if any.is_ascii() { r"(?:\b|_)" } else { "" };
    (!patterns.is_empty()).then(|| format!("{begins}(?:{any})"))
}

/// The beginning that all forms of a word share: `volcanoes` → `volcano`, `studies` → `stud`.
fn stem(word: &str) -> String {
    let term = ranking::terms(word).into_iter().next().unwrap_or_default();
    let common = term.chars().zip(word.chars()).take_while(|(a, b)| a == b).map(|(char, _)| char);
    let stem: String = common.collect();
    // The stemmer writes `y` as `i`.
    let stem = if stem.len() < word.len() { stem.trim_end_matches('i').to_owned() } else { stem };
    if stem.chars().count() >= 3 { stem } else { word.to_owned() }
}

/// Matches both cases; the expressions of `files` ignore case only in ASCII. Letters and digits need no escapes there.
fn letter(char: char) -> String {
    let upper: String = char.to_uppercase().collect();
    if char.is_ascii() || upper.chars().count() != 1 || upper == char.to_string() {
        return char.to_string();
    }
    format!("[{char}{upper}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_becomes_an_expression() {
        let check = |query, expected: Option<&str>| assert_eq!(of(query).as_deref(), expected, "{query:?}");
        check("volcanoes", Some(r"(?:\b|_)(?:volcano)"));
        check("Where is the Etna?", Some(r"(?:\b|_)(?:etna)"));
        check("running studies, happy run", Some(r"(?:\b|_)(?:run|stud|happ)"));
        check("to be or not to be", Some(r"(?:\b|_)(?:to|be|or|not)"));
        check("C++ (or .*)?", Some(r"(?:\b|_)(?:c|or)"));
        check("Ärger in Zürich", Some("(?:[äÄ]rger|z[üÜ]rich)"));
        check("x_ray 3.14", Some(r"(?:\b|_)(?:ray|14)"));
        check("?!", None);
        check("", None);
    }
}
