//! Words that ask for a secret.
//!
//! MCP forbids questions for secrets in forms: answers pass through the client's logs.

/// Parts of a field name, which may join words without a space.
const IN_NAMES: [&str; 8] =
    ["password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "privatekey"];
/// Beginnings of words in a text.
const BEGINNINGS: [&str; 6] = ["password", "passwd", "passphrase", "passcode", "credential", "apikey"];
/// Whole words in a text.
const WORDS: [&str; 4] = ["secret", "secrets", "token", "tokens"];
/// Words before `key` or `keys`.
const KEYS: [&str; 6] = ["access", "api", "private", "secret", "signing", "ssh"];

/// Whether a field name asks for a secret.
pub(crate) fn names_secret(name: &str) -> bool {
    let folded: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    IN_NAMES.iter().any(|secret| folded.contains(secret))
}

/// Whether a text shown to the person asks for a secret.
pub(crate) fn asks_for_secret(text: &str) -> bool {
    let folded = text.to_lowercase();
    let mut before = "";
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let key = matches!(word, "key" | "keys") && KEYS.contains(&before);
        before = word;
        key || WORDS.contains(&word) || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
    })
}
