//! "Did you mean": finds the known name closest to an unknown one. Every suggestion of the host should come from here.
//!
//! A wrong guess misleads a model, so short names need closer matches: `get` does not match `set`, nor `list` `lint`.

use crate::text::show::VALUE_CHARS;

/// Returns the name closest to `name`, if one is close enough to be what was meant.
///
/// Names are compared without case and punctuation, by the optimal string alignment distance (OSA): the number of
/// letters inserted, deleted, replaced or swapped with their neighbour. These distances match, by the length of the
/// shorter name in letters:
///
/// | distance | shorter name | condition |
/// |---|---|---|
/// | 0 | any | |
/// | 1 | 2 | other length, and the same first letter |
/// | 1 | 3 or 4 | same length: the same letters in another order; other length: the same first or last letter |
/// | 1 | 5 or more | |
/// | 2 | 6 or more | the same first letter |
/// | 3 | 10 or more | the same first letter |
///
/// Of several matches the smallest distance wins, then the first in order. Without a match, partial names are tried:
/// `name` is the beginning (3 letters or more), the first or the last word of a known name, or a known name is the
/// first or the last word of `name`. A partial name must be the only one. Names longer than 80 bytes match nothing.
pub fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > VALUE_CHARS {
        return None;
    }
    let sent = fold(name);
    let known: Vec<(&str, FoldedName)> = among.into_iter().map(|name| (name, fold(name))).collect();
    let slips = known.iter().filter_map(|(name, known)| Some((slips(&sent, known)?, *name)));
    let best = slips.fold(None, |best: Option<(usize, &str)>, next| match best {
        Some(best) if best.0 <= next.0 => Some(best),
        _ => Some(next),
    });
    if let Some((_, name)) = best {
        return Some(name);
    }
    // A partial name must be unambiguous.
    let mut parts = known.iter().filter(|(known, folded)| is_part(name, &sent, known, folded));
    match (parts.next(), parts.next()) {
        (Some((only, _)), None) => Some(only),
        _ => None,
    }
}

/// A name without case and punctuation: `createdAfter`, `created-after` and `created_after` are equal.
struct FoldedName {
    text: String,
    length: usize,
    /// How often the letters of each of 32 classes occur.
    letters: [u8; 32],
}

fn fold(name: &str) -> FoldedName {
    let text: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let (mut length, mut letters) = (0, [0_u8; 32]);
    for c in text.chars() {
        let class = &mut letters[c as usize % 32];
        *class = class.saturating_add(1);
        length += 1;
    }
    FoldedName { text, length, letters }
}

/// Whether two names may be within this distance. Each slip changes at most one letter on either side, so counting
/// letters rules out most names, in a fraction of the time of the distance itself.
fn may_be_within(most: usize, one: &FoldedName, other: &FoldedName) -> bool {
    let surplus = |one: &FoldedName, other: &FoldedName| -> usize {
        one.letters
            .iter()
            .zip(&other.letters)
            .map(|(one, other)| usize::from(one.saturating_sub(*other)))
            .sum()
    };
    surplus(one, other).max(surplus(other, one)) <= most
}

/// Returns the OSA distance of two names, if it is within the thresholds of [`nearest`].
fn slips(sent: &FoldedName, known: &FoldedName) -> Option<usize> {
    let shorter = sent.length.min(known.length);
    let most = match shorter {
        0 => return None,
        1..6 => 1,
        6..10 => 2,
        _ => MAX_SLIPS,
    };
    if sent.length.abs_diff(known.length) > most || !may_be_within(most, sent, known) {
        return None;
    }
    let distance = strsim::osa_distance(&sent.text, &known.text);
    let first = sent.text.chars().next() == known.text.chars().next();
    let last = sent.text.chars().next_back() == known.text.chars().next_back();
    let likely = match (distance, shorter) {
        (0, _) => true,
        (1, 1) => false,
        (1, 2) => first && sent.length != known.length,
        // A replaced letter in a short word makes another word.
        (1, 3 | 4) if sent.length == known.length => is_permutation(&sent.text, &known.text),
        (1, 3 | 4) => first || last,
        (1, _) => true,
        (2, 6..) | (MAX_SLIPS, 10..) => first,
        _ => false,
    };
    likely.then_some(distance)
}

/// Largest distance that can match.
const MAX_SLIPS: usize = 3;

/// Whether two words consist of the same letters.
fn is_permutation(one: &str, other: &str) -> bool {
    let sorted = |word: &str| {
        let mut word: Vec<char> = word.chars().collect();
        word.sort_unstable();
        word
    };
    sorted(one) == sorted(other)
}

/// Whether one name is part of the other: `desc` of `description`, `notes.search` and `search`.
fn is_part(sent: &str, sent_folded: &FoldedName, known: &str, known_folded: &FoldedName) -> bool {
    let begins = sent_folded.length >= 3 && known_folded.text.starts_with(&sent_folded.text);
    begins || is_word_of(known, sent) || is_word_of(sent, known)
}

/// Whether `name` is the first or the last word of `longer`.
fn is_word_of(name: &str, longer: &str) -> bool {
    let (name, longer) = (name.to_lowercase(), longer.to_lowercase());
    let apart = |rest: &str, at_end: bool| {
        let next = if at_end { rest.chars().next() } else { rest.chars().next_back() };
        next.is_some_and(|c| !c.is_alphanumeric())
    };
    name.chars().count() >= 2
        && (longer.strip_prefix(&name).is_some_and(|rest| apart(rest, true))
            || longer.strip_suffix(&name).is_some_and(|rest| apart(rest, false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(among: &[&str], cases: &[(&str, Option<&str>)]) {
        for (name, expected) in cases {
            assert_eq!(nearest(name, among.iter().copied()), *expected, "{name} among {among:?}");
        }
    }

    #[test]
    fn misspelt_names_are_found() {
        check(
            &["say", "search", "title", "tags", "list", "description", "created_after", "id"],
            &[
                ("sya", Some("say")),
                ("asy", Some("say")),
                ("SAY", Some("say")),
                ("serach", Some("search")),
                ("serch", Some("search")),
                ("saerch", Some("search")),
                ("searhc", Some("search")),
                ("seach", Some("search")),
                ("searches", Some("search")),
                ("titel", Some("title")),
                ("ttile", Some("title")),
                ("Title", Some("title")),
                ("tag", Some("tags")),
                ("lsit", Some("list")),
                ("ist", Some("list")),
                ("lits", Some("list")),
                ("discription", Some("description")),
                ("desciption", Some("description")),
                ("createdAfter", Some("created_after")),
                ("created-after", Some("created_after")),
                ("CREATED_AFTER", Some("created_after")),
                ("ids", Some("id")),
            ],
        );
    }

    #[test]
    fn unambiguous_partial_names_are_found() {
        check(
            &["search", "description", "list_issues", "get_issue", "get_user", "priority"],
            &[
                ("desc", Some("description")),
                ("prio", Some("priority")),
                ("list", Some("list_issues")),
                ("get", None),
                ("notes.search", Some("search")),
                ("notes_search", Some("search")),
                ("search_notes", Some("search")),
                ("research", None),
                ("issue", Some("get_issue")),
            ],
        );
        check(&["id", "title"], &[("note_id", Some("id")), ("grid", None), ("idea", None)]);
    }

    #[test]
    fn distant_names_are_not_suggested() {
        check(
            &["set", "add", "list", "text", "import", "id", "on", "a", "open", "delete"],
            &[
                ("get", None),
                ("and", None),
                ("last", None),
                ("lint", None),
                ("test", None),
                ("next", None),
                ("export", None),
                ("no", None),
                ("it", None),
                ("x", None),
                ("b", None),
                ("", None),
                ("_", None),
                ("close", None),
                ("remove", None),
                ("create", None),
                ("пять", None),
            ],
        );
        assert_eq!(nearest(&"x".repeat(1 << 20), ["x"]), None);
    }

    #[test]
    fn counting_letters_rules_out_no_near_name() {
        let words: Vec<String> = (0_u32..400)
            .map(|seed| {
                let letter = |place: u32| {
                    char::from(b'a' + (seed.wrapping_mul(2_654_435_761) >> (3 * place)) as u8 % 4)
                };
                (0..2 + seed % 7).map(letter).chain(['é'; 2].into_iter().take(seed as usize % 3)).collect()
            })
            .collect();
        for (one, other) in words.iter().flat_map(|one| words.iter().map(move |other| (one, other))) {
            let distance = strsim::osa_distance(one, other);
            assert!(may_be_within(distance, &fold(one), &fold(other)), "{one} {other}");
        }
    }
}
