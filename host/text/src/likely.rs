//! Texts that look like credentials: bearer tokens, our own tokens, JWTs, values of headers that carry credentials.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::redacted::REDACTED;

/// Finds the beginnings of possible credentials.
static SIGNS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let signs = SIGN.iter().map(|(sign, _)| sign);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(signs)
        .ok()
});

/// Kind of text that follows a sign.
#[derive(Clone, Copy)]
enum SignKind {
    /// Space, and a token.
    Token,
    /// The rest of one of our own tokens.
    Rest,
    /// The rest of a JWT.
    Jwt,
    /// A separator and a value: the sign is a name.
    Value,
}

/// Signs in lower case, compared case-insensitively, except the base64 of `{"`.
const SIGN: [(&str, SignKind); 12] = [
    ("bearer", SignKind::Token),
    ("loggia_", SignKind::Rest),
    ("eyJ", SignKind::Jwt),
    ("authorization", SignKind::Value),
    ("cookie", SignKind::Value),
    ("x-api-key", SignKind::Value),
    ("api_key", SignKind::Value),
    ("access_token", SignKind::Value),
    ("refresh_token", SignKind::Value),
    ("id_token", SignKind::Value),
    ("client_secret", SignKind::Value),
    ("password", SignKind::Value),
];

/// Position of a text that looks like a credential.
pub(crate) struct LikelySpan {
    /// Start of the sign that makes it look like one.
    pub sign: usize,
    /// Start of the credential.
    pub from: usize,
    /// End of the credential.
    pub end: usize,
}

/// Finds texts that look like credentials, in order. If the text is `cut` off, less is enough at its end. Linear time.
pub(crate) fn spans(text: &str, cut: bool) -> Vec<LikelySpan> {
    let mut found: Vec<LikelySpan> = Vec::new();
    let Some(signs) = SIGNS.as_ref() else { return found };
    // End of the last match; and the position before which no JWT can begin.
    let (mut done, mut no_jwt) = (0, 0);
    for sign in signs.find_iter(text) {
        if sign.start() < done {
            continue;
        }
        let rest = &text[sign.end()..];
        let credential = match SIGN[sign.pattern().as_usize()].1 {
            SignKind::Token => token(rest).map(|(from, len)| (sign.end() + from, len)),
            SignKind::Rest => {
                let len = run(rest, is_url_safe);
                (len >= OURS || (cut && len == rest.len())).then_some((sign.start(), len + sign.len()))
            }
            SignKind::Jwt if sign.start() < no_jwt || &text[sign.range()] != "eyJ" => None,
            SignKind::Jwt => {
                let whole = &text[sign.start()..];
                let len = jwt(whole, cut);
                if len.is_none() {
                    no_jwt = sign.start() + run(whole, is_url_safe);
                }
                len.map(|len| (sign.start(), len))
            }
            SignKind::Value => value(rest).map(|(from, len)| (sign.end() + from, len)),
        };
        if let Some((from, len)) = credential {
            done = from + len;
            found.push(LikelySpan { sign: sign.start(), from, end: done });
        }
    }
    found
}

/// Shortest rest of one of our own tokens: names of files and metrics are shorter.
const OURS: usize = 24;
/// Shortest first part of a JWT.
const HEAD: usize = 12;
/// Longest distance between a name and its value.
const BETWEEN: usize = 8;

fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Tests for characters of credentials in a header (RFC 9110, token68).
fn is_token(byte: u8) -> bool {
    is_url_safe(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=' | b'[' | b']')
}

/// Counts the bytes at the start of a text that satisfy a condition.
fn run(text: &str, matches: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !matches(byte)).unwrap_or(text.len())
}

/// Finds the token after `Bearer`: its start and length. Sentences about bearer tokens do not match.
fn token(rest: &str) -> Option<(usize, usize)> {
    let from = run(rest, |byte| matches!(byte, b' ' | b'\t'));
    let len = run(&rest[from..], is_token);
    let word = rest[from..from + len].trim_end_matches('.');
    let spoken =
        ["", "token", "tokens", "authentication", REDACTED].contains(&word.to_ascii_lowercase().as_str());
    (from > 0 && !spoken).then_some((from, len))
}

/// Returns the length of a JWT at the start of a text. A truncated one counts.
fn jwt(text: &str, cut: bool) -> Option<usize> {
    let head = run(text, is_url_safe);
    if head < HEAD {
        return (cut && head == text.len()).then_some(head);
    }
    let mut len = head;
    while text[len..].starts_with('.') {
        len += 1;
        len += run(&text[len..], is_url_safe);
    }
    (len > head || len == text.len()).then_some(len)
}

/// Finds the value after a name: its start and length. None if the name is an ordinary word.
fn value(rest: &str) -> Option<(usize, usize)> {
    let between = |byte: u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b':' | b'=' | b',');
    let from = run(rest, between);
    let gap = &rest[..from];
    let quoted = gap.contains(['"', '\'']);
    let assigned = gap.contains([':', '=']) || (quoted && gap.contains(','));
    if !assigned || from > BETWEEN {
        return None;
    }
    let ends = |byte: u8| match byte {
        b'"' | b'\'' | b'\\' | b'\r' | b'\n' => true,
        b',' | b'}' | b')' => !quoted,
        _ => false,
    };
    let len = run(&rest[from..], |byte| !ends(byte));
    (len > 0 && &rest[from..from + len] != REDACTED).then_some((from, len))
}
