//! Names of actions and parameters, which every language and every client takes.

use std::collections::BTreeSet;

/// Length of a name that every client takes.
const MAX_NAME: usize = 32;
/// Names that have a meaning in calls, in the sketch, in Rust or in Python.
const TAKEN: [&str; 3] = [
    "action cmd params detail wait confirm request body answer as_text http json plugin",
    "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in let loop \
     macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe unsized use \
     virtual where while yield",
    "and assert class def del elif except finally from global import is lambda nonlocal none not or pass raise with",
];

/// Turns a name into one in snake case.
pub fn to_ident(name: &str) -> String {
    let mut ident = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && was_lower {
            ident.push('_');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        ident.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    let ident = ident.trim_matches('_');
    let ident = if ident.starts_with(|c: char| c.is_ascii_lowercase()) {
        ident.to_owned()
    } else {
        format!("p_{ident}")
    };
    let ident: String = ident.chars().take(MAX_NAME - 6).collect();
    let is_taken = TAKEN.iter().flat_map(|names| names.split_whitespace()).any(|taken| taken == ident);
    if is_taken { format!("{ident}_value") } else { ident }
}

/// Takes a name, with a number if it is taken.
pub fn claim(ident: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{ident}_{number}"));
    let free = std::iter::once(ident.to_owned()).chain(numbered).find(|name| !taken.contains(name));
    let name = free.unwrap_or_default();
    taken.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_suit_languages_and_clients() {
        for (name, expected) in [
            ("petId", "pet_id"),
            ("X-Trace", "x_trace"),
            ("type", "type_value"),
            ("from", "from_value"),
            ("action", "action_value"),
            ("2fa", "p_2fa"),
            ("$filter", "filter"),
            ("é", "p_"),
            (&"a".repeat(80), &"a".repeat(26)),
        ] {
            assert_eq!(to_ident(name), expected, "{name}");
        }
        let mut taken = BTreeSet::new();
        assert_eq!([(); 3].map(|()| claim("id", &mut taken)), ["id", "id_2", "id_3"]);
    }
}
