//! Verbs that mean the same in the names of actions: `remove_note` for `delete_note`. Only for suggestions: a call is
//! never redirected by meaning.

use crate::text::show::VALUE_CHARS;

/// Verbs of one meaning.
struct VerbGroup {
    /// The verbs that mean this first. Each is in one group only.
    own: &'static str,
    /// Verbs of other groups that can mean this as well.
    also: &'static str,
}

impl VerbGroup {
    fn has(&self, word: &str, strictly: bool) -> bool {
        let has = |list: &str| list.split(' ').any(|verb| verb == word);
        has(self.own) || (!strictly && has(self.also))
    }
}

const fn group(own: &'static str, also: &'static str) -> VerbGroup {
    VerbGroup { own, also }
}

const GROUPS: [VerbGroup; 16] = [
    group("get show fetch read view open retrieve load", ""),
    group("list ls all enumerate index", "show view"),
    group("add create new insert store save put write make register", ""),
    group("change update edit set modify patch alter", "put save store write rename"),
    group("append extend", "add write"),
    group("delete remove rm erase drop purge forget discard", ""),
    group("search find query lookup grep", ""),
    group("run execute exec start launch", ""),
    group("stop cancel abort kill terminate", ""),
    group("move rename mv relocate", ""),
    group("copy duplicate clone cp", ""),
    group("archive hide shelve", ""),
    group("restore undelete unarchive recover", ""),
    group("send post submit", ""),
    group("batch bulk", ""),
    group("describe help info schema usage", ""),
];

/// Most names that are suggested together. More would be a list, not a suggestion.
const MOST: usize = 3;

/// A name that may be suggested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerbCandidate<'a> {
    pub(crate) name: &'a str,
    /// Whether it may lose data: then only a verb that means the same first leads to it.
    pub(crate) destructive: bool,
}

/// Returns the names that differ from `name` in one word, where both have verbs of one group: `notes_remove` for
/// `notes_delete`. If there is none, those whose first words are such verbs, where one side has no other word: `remove`
/// for `delete_note`. None at all if there are more than three. The likeliest come first.
pub(crate) fn synonyms<'a>(name: &str, among: impl IntoIterator<Item = VerbCandidate<'a>>) -> Vec<&'a str> {
    let sent = words(&name[..name.floor_char_boundary(VALUE_CHARS + 1)]);
    let is_verb = |word: &String| GROUPS.iter().any(|group| group.has(word, false));
    // Longer names are no names of actions.
    if name.len() > VALUE_CHARS || !sent.iter().any(is_verb) {
        return Vec::new();
    }
    let (mut whole, mut partial) = (Vec::new(), Vec::new());
    for candidate in among {
        let known = words(candidate.name);
        let mean_the_same = |at: usize| is_same_verb(&sent[at], &known[at], candidate.destructive);
        let mut others = (0..sent.len().min(known.len())).filter(|at| !is_same_word(&sent[*at], &known[*at]));
        let found = match (others.next(), others.next()) {
            (Some(only), None) if sent.len() == known.len() && mean_the_same(only) => &mut whole,
            (Some(0), None) if sent.len() != known.len() && mean_the_same(0) => &mut partial,
            _ => continue,
        };
        if !found.contains(&candidate.name) {
            found.push(candidate.name);
        }
    }
    let mut found = if whole.is_empty() { partial } else { whole };
    if found.len() > MOST {
        found.clear();
    }
    // A verb's first meaning comes first: `save` is rather `put` than `edit`.
    found.sort_by_key(|name| {
        let known = words(name);
        !sent.iter().zip(&known).any(|(one, other)| one != other && is_same_verb(one, other, true))
    });
    found
}

/// The words of a name, in lower case: of `deleteNote`, `delete-note` and `delete_note` the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether two words are equal, but for a plural.
fn is_same_word(one: &str, other: &str) -> bool {
    one == other || one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one)
}

/// Whether two words are verbs of one group; `strictly`, of both of which it is the first meaning.
fn is_same_verb(one: &str, other: &str, strictly: bool) -> bool {
    GROUPS.iter().any(|group| group.has(one, strictly) && group.has(other, strictly))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Checks suggestions. Names that end in `!` are destructive.
    fn check(among: &[&'static str], cases: &[(&str, &[&str])]) {
        for (name, expected) in cases {
            let among = among.iter().map(|known| match known.strip_suffix('!') {
                Some(name) => VerbCandidate { name, destructive: true },
                None => VerbCandidate { name: known, destructive: false },
            });
            assert_eq!(synonyms(name, among), *expected, "{name}");
        }
    }

    #[test]
    fn verbs_of_one_group_are_suggested() {
        check(
            &["add", "get", "list", "search", "update", "delete!", "run", "describe"],
            &[
                ("store", &["add", "update"]),
                ("create", &["add"]),
                ("fetch", &["get"]),
                ("show", &["get", "list"]),
                ("ls", &["list"]),
                ("find", &["search"]),
                ("change", &["update"]),
                ("REMOVE", &["delete"]),
                ("execute", &["run"]),
                ("help", &["describe"]),
                ("remove_note", &["delete"]),
                ("removeNote", &["delete"]),
                ("save", &["add", "update"]),
                ("walk", &[]),
                ("do", &[]),
                ("", &[]),
                ("_", &[]),
            ],
        );
    }

    #[test]
    fn first_meanings_come_first() {
        check(&["edit", "put", "get"], &[("save", &["put", "edit"]), ("set", &["edit", "put"])]);
        check(&["list_notes", "get_note"], &[("show_note", &["get_note", "list_notes"])]);
    }

    #[test]
    fn the_other_words_must_agree() {
        check(
            &["delete_note!", "delete_user!", "get_note", "list_notes", "note-search"],
            &[
                ("remove_note", &["delete_note"]),
                ("remove_notes", &["delete_note"]),
                ("remove-user", &["delete_user"]),
                ("remove", &["delete_note", "delete_user"]),
                ("show_notes", &["get_note", "list_notes"]),
                ("note_find", &["note-search"]),
                ("remove_group", &[]),
                ("note_remove", &[]),
            ],
        );
        check(&["get_a", "get_b", "get_c", "get_d"], &[("show", &[]), ("show_a", &["get_a"])]);
        check(&["add_all", "get"], &[("add_note_show", &[]), ("note_show", &[])]);
    }

    #[test]
    fn destructive_actions_need_a_verb_of_their_own_group() {
        check(&["update!"], &[("edit", &["update"]), ("save", &[]), ("remove", &[])]);
        check(&["update"], &[("edit", &["update"]), ("save", &["update"]), ("remove", &[])]);
        check(&["append!"], &[("extend", &["append"]), ("write", &[])]);
    }

    #[test]
    fn every_verb_means_one_thing_first() {
        let own: Vec<&str> = GROUPS.iter().flat_map(|group| group.own.split(' ')).collect();
        let distinct: BTreeSet<&str> = own.iter().copied().collect();
        assert_eq!(own.len(), distinct.len());
        for group in &GROUPS {
            for word in group.also.split_terminator(' ') {
                let here = group.own.split(' ').any(|verb| verb == word);
                assert!(distinct.contains(word) && !here, "{word}");
            }
        }
        assert!(own.iter().all(|verb| verb.chars().all(|c| c.is_ascii_lowercase())));
    }
}
