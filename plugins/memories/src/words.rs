//! Normalised kinds, relations and tags, so that spelling does not make two of one.

use loggia_sdk::prelude::*;

/// Maximum length of each, in characters.
pub const LENGTH: usize = 64;

/// Kind of a memory: `Software_Project ` → `software-project`.
pub fn kind(text: &str) -> String {
    let words = text.split(|char: char| char.is_whitespace() || char == '_' || char == '-');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").to_lowercase()
}

/// Relation of a link, with single spaces.
pub fn relation(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Tags, trimmed, without duplicates.
///
/// # Errors
///
/// `invalid_params` if one is empty or too long.
pub fn tags(tags: Vec<String>) -> Result<Vec<String>> {
    let mut tidy: Vec<String> = Vec::new();
    for tag in tags {
        let tag = tag.trim();
        if tag.is_empty() || tag.chars().count() > LENGTH {
            return Err(
                Failure::invalid_params("a tag has 1 to 64 characters").hint("Put details into the body.")
            );
        }
        if !tidy.iter().any(|other| other.to_lowercase() == tag.to_lowercase()) {
            tidy.push(tag.to_owned());
        }
    }
    Ok(tidy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_make_two_kinds() {
        let check = |text, expected| assert_eq!(kind(text), expected);
        check("person", "person");
        check(" Software_Project ", "software-project");
        check("software  project", "software-project");
        check("Straße", "straße");
        check(" - ", "");
        assert_eq!(relation(" works\n at "), "works at");
    }
}
