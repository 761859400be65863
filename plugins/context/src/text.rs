//! Texts that others wrote, made short and visible.

/// Maximum length of a text that is compared and suggested, in characters.
pub const LONG: usize = 1500;

/// Maximum length of a query, in characters: sources accept 1,000.
const QUERY: usize = 500;

/// Words that say nothing about a task, in lower case.
const COMMON: [&str; 48] = [
    "a", "about", "all", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "have",
    "how", "i", "if", "in", "into", "is", "it", "me", "my", "new", "not", "of", "on", "or", "our", "so",
    "that", "the", "this", "to", "up", "us", "use", "want", "was", "we", "what", "when", "where", "which",
    "will", "with", "you",
];

/// Removes control and invisible characters, collapses white space, and truncates to this many characters.
pub fn short(text: &str, characters: usize) -> String {
    let visible: String = text.chars().filter(|char| !untrusted::is_hidden(*char)).collect();
    let is_space = |char: char| char.is_whitespace() || char.is_control();
    let words: Vec<&str> = visible.split(is_space).filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    if text.chars().count() <= characters {
        return text;
    }
    let cut: String = text.chars().take(characters.saturating_sub(1)).collect();
    let end = cut.rfind(' ').filter(|end| *end > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

/// Query for a task: its distinct words that tell something, from the beginning. Sources would find every text with a
/// "the".
pub fn query(task: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut left = QUERY;
    for word in task.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if words.contains(&word) || is_common(&word.to_lowercase()) {
            continue;
        }
        let length = word.chars().count() + 1;
        if length > left {
            break;
        }
        words.push(word);
        left -= length;
    }
    if words.is_empty() { task.chars().take(QUERY).collect() } else { words.join(" ") }
}

/// Whether a word, in lower case, says nothing about a task.
pub fn is_common(word: &str) -> bool {
    COMMON.contains(&word)
}
