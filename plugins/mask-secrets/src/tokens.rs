//! Tokens: JWTs, and what follows `Bearer` or `Authorization:`.

use crate::scan::{Found, begins_word, continues, is_base64_url, run};

/// Shortest part of a JWT but the last.
const MIN_PART: usize = 8;
/// Shortest bearer token.
const MIN_TOKEN: usize = 16;
/// Shortest credential after `Authorization:`.
const MIN_CREDENTIAL: usize = 8;

/// Finds JWTs: JSON in Base64, a dot, and two or four more parts.
pub fn find_jwts(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found: Vec<Found> = Vec::new();
    for (at, _) in text.match_indices("eyJ") {
        if !begins_word(bytes, at) || found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let mut parts = Vec::new();
        let mut end = at;
        while parts.len() < 5 {
            let length = run(bytes, end, is_base64_url);
            parts.push(length);
            end += length;
            if bytes.get(end) != Some(&b'.') || parts.len() == 5 {
                break;
            }
            end += 1;
        }
        // A sentence may end behind it.
        if parts.last() == Some(&0) {
            parts.pop();
            end -= 1;
        }
        if parts.len() >= 3 && parts[..2].iter().all(|length| *length >= MIN_PART) {
            found.push(at..end);
        }
    }
    found
}

/// Finds tokens after `Bearer`, and credentials after `Authorization:`.
pub fn find_bearers(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'B' | b'b' if begins_word(bytes, at) => after_word(bytes, at, "bearer ", MIN_TOKEN),
            b'A' | b'a' if begins_word(bytes, at) => after_header(bytes, at),
            _ => None,
        };
        match end {
            Some(range) => {
                at = range.end;
                found.push(range);
            }
            None => at += 1,
        }
    }
    found
}

fn after_word(bytes: &[u8], at: usize, word: &str, least: usize) -> Option<Found> {
    continues(bytes, at, word).then(|| credential(bytes, at + word.len(), least)).flatten()
}

/// `Authorization: Basic …`, and other schemes.
fn after_header(bytes: &[u8], at: usize) -> Option<Found> {
    const HEADER: &str = "authorization:";
    if !continues(bytes, at, HEADER) {
        return None;
    }
    let scheme = at + HEADER.len() + run(bytes, at + HEADER.len(), |byte| byte == b' ');
    let length = run(bytes, scheme, |byte| byte.is_ascii_alphabetic());
    let is_scheme = bytes.get(scheme + length) == Some(&b' ');
    credential(bytes, if is_scheme { scheme + length + 1 } else { scheme }, MIN_CREDENTIAL)
}

/// A credential has a digit, or ends in the padding of Base64; words have neither.
fn credential(bytes: &[u8], at: usize, least: usize) -> Option<Found> {
    let at = at + run(bytes, at, |byte| byte == b' ');
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'-');
    let mut end = at + run(bytes, at, fits);
    end += run(bytes, end, |byte| byte == b'=');
    // The full stop of a sentence.
    while end > at && bytes[end - 1] == b'.' {
        end -= 1;
    }
    let token = &bytes[at..end];
    let is_token = token.iter().any(u8::is_ascii_digit) || token.ends_with(b"=");
    (token.len() >= least && is_token).then_some(at..end)
}
