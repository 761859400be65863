//! What looks like a credential: a bearer token, a token of ours, a JWT, the value of a header that carries credentials.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::redacted::REDACTED;

/// Where a credential may begin.
static SIGNS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let signs = SIGN.iter().map(|(sign, _)| sign);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(signs)
        .ok()
});

/// What follows a sign.
#[derive(Clone, Copy)]
enum Follows {
    /// Space, and a token.
    Token,
    /// The rest of a token of ours.
    Rest,
    /// The rest of a JWT.
    Jwt,
    /// A separator and a value: it was a name.
    Value,
}

/// In lower case; compared without it, but for the one that base64 makes of `{"`.
const SIGN: [(&str, Follows); 12] = [
    ("bearer", Follows::Token),
    ("loggia_", Follows::Rest),
    ("eyJ", Follows::Jwt),
    ("authorization", Follows::Value),
    ("cookie", Follows::Value),
    ("x-api-key", Follows::Value),
    ("api_key", Follows::Value),
    ("access_token", Follows::Value),
    ("refresh_token", Follows::Value),
    ("id_token", Follows::Value),
    ("client_secret", Follows::Value),
    ("password", Follows::Value),
];

/// What looks like a credential.
pub(crate) struct Likely {
    /// Where the sign of it begins, without which it would not look like one.
    pub sign: usize,
    /// Where it begins itself.
    pub from: usize,
    /// Where it ends.
    pub end: usize,
}

/// What of a text looks like credentials, from the first to the last. Where the text is `cut` off, less is enough at its
/// end. Time is linear in the text.
pub(crate) fn spans(text: &str, cut: bool) -> Vec<Likely> {
    let mut found: Vec<Likely> = Vec::new();
    let Some(signs) = SIGNS.as_ref() else { return found };
    // What was found so far ends here; and nothing that begins before there is a JWT.
    let (mut done, mut no_jwt) = (0, 0);
    for sign in signs.find_iter(text) {
        if sign.start() < done {
            continue;
        }
        let rest = &text[sign.end()..];
        let credential = match SIGN[sign.pattern().as_usize()].1 {
            Follows::Token => token(rest).map(|(from, len)| (sign.end() + from, len)),
            Follows::Rest => {
                let len = run(rest, is_url_safe);
                (len >= OURS || (cut && len == rest.len())).then_some((sign.start(), len + sign.len()))
            }
            Follows::Jwt if sign.start() < no_jwt || &text[sign.range()] != "eyJ" => None,
            Follows::Jwt => {
                let whole = &text[sign.start()..];
                let len = jwt(whole, cut);
                if len.is_none() {
                    no_jwt = sign.start() + run(whole, is_url_safe);
                }
                len.map(|len| (sign.start(), len))
            }
            Follows::Value => value(rest).map(|(from, len)| (sign.end() + from, len)),
        };
        if let Some((from, len)) = credential {
            done = from + len;
            found.push(Likely { sign: sign.start(), from, end: done });
        }
    }
    found
}

/// Characters of the rest of the shortest token of ours that is taken for one: names of files and metrics are shorter.
const OURS: usize = 24;
/// Characters of the first part of the shortest JWT.
const HEAD: usize = 12;
/// How far a value stands behind its name.
const BETWEEN: usize = 8;

fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// What a header's credentials may be made of (RFC 9110, token68).
fn is_token(byte: u8) -> bool {
    is_url_safe(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=' | b'[' | b']')
}

/// How many bytes at the start of a text are such.
fn run(text: &str, such: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !such(byte)).unwrap_or(text.len())
}

/// The token behind `Bearer`: where it begins, and its length. A sentence that speaks of one is left alone.
fn token(rest: &str) -> Option<(usize, usize)> {
    let from = run(rest, |byte| matches!(byte, b' ' | b'\t'));
    let len = run(&rest[from..], is_token);
    let word = rest[from..from + len].trim_end_matches('.');
    let spoken =
        ["", "token", "tokens", "authentication", REDACTED].contains(&word.to_ascii_lowercase().as_str());
    (from > 0 && !spoken).then_some((from, len))
}

/// The length of a JWT at the start of a text. One that the text's end cuts off counts.
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

/// The value behind a name: where it begins, and its length. None where the name is only a word.
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
