//! Words by which a secret is asked for. MCP forbids to ask for one in a form, whose answer goes through the client's logs.

/// In a name, where words stand without a space between them.
const IN_NAMES: [&str; 8] =
    ["password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "privatekey"];
/// What a word of a text begins with.
const BEGINNINGS: [&str; 6] = ["password", "passwd", "passphrase", "passcode", "credential", "apikey"];
/// Whole words of a text.
const WORDS: [&str; 4] = ["secret", "secrets", "token", "tokens"];
/// What stands before the word `key`.
const KEYS: [&str; 6] = ["access", "api", "private", "secret", "signing", "ssh"];

/// Whether a field's name asks for a secret.
pub(crate) fn names_secret(name: &str) -> bool {
    let folded: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    IN_NAMES.iter().any(|secret| folded.contains(secret))
}

/// Whether a text, as it is shown to the person, asks for a secret.
pub(crate) fn asks_for_secret(text: &str) -> bool {
    let folded = text.to_lowercase();
    let mut before = "";
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let key = matches!(word, "key" | "keys") && KEYS.contains(&before);
        before = word;
        key || WORDS.contains(&word) || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
    })
}
