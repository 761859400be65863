//! E-mail addresses.

use crate::scan::Found;

/// Longest local part and longest domain, in characters (RFC 5321).
const MAX_LOCAL: usize = 64;
const MAX_DOMAIN: usize = 253;
/// What ends the names of files: `icon@2x.png` is no address.
const FILE_ENDINGS: [&str; 12] =
    ["png", "jpg", "jpeg", "gif", "svg", "webp", "pdf", "css", "js", "ts", "json", "html"];

/// Finds addresses.
pub fn find(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (at, _) in text.match_indices('@') {
        if let Some(address) = address(text, at)
            && found.last().is_none_or(|last| last.end <= address.start)
        {
            found.push(address);
        }
    }
    found
}

/// The address around an `@`.
fn address(text: &str, at: usize) -> Option<Found> {
    let is_local = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-');
    let local: usize =
        text[..at].chars().rev().take(MAX_LOCAL).take_while(|c| is_local(*c)).map(char::len_utf8).sum();
    let is_domain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let rest = &text[at + 1..];
    let length: usize = rest.chars().take(MAX_DOMAIN).take_while(|c| is_domain(*c)).map(char::len_utf8).sum();
    let domain = rest[..length].trim_end_matches(['.', '-']);
    let (name, ending) = domain.rsplit_once('.')?;
    let is_name =
        !name.is_empty() && name.split('.').all(|label| !label.is_empty() && !label.starts_with('-'));
    let is_ending = ending.chars().count() >= 2
        && ending.chars().all(char::is_alphabetic)
        && !FILE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str());
    // The user of a URL.
    let is_user = text[..at - local].ends_with("://");
    // What git writes before a path.
    let is_remote = &text[at - local..at] == "git" && rest[domain.len()..].starts_with(':');
    (local > 0 && is_name && is_ending && !is_remote && !is_user).then_some(at - local..at + 1 + domain.len())
}
