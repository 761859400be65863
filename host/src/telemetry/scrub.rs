//! Credentials, taken out of whatever is about to be logged, whoever logs it.
//!
//! Two kinds are found: what looks like one (a bearer token, a token of ours, a JWT, the value of a header that carries
//! credentials), and the values of secrets that the operator's policies name. Nothing of ours logs either; this is for a
//! library's debugging output, and for what we get wrong. Time is linear in the text, which may be anybody's.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use aho_corasick::{AhoCorasick, MatchKind};
use arc_swap::ArcSwapOption;

/// What stands in the place of a credential.
pub const REDACTED: &str = "[redacted]";

/// Bytes of the shortest secret that is looked for: a shorter one would be found where it is none.
const SHORTEST: usize = 8;
/// Secrets that are kept; a folder has far fewer.
const MOST: usize = 10_000;

/// Where a credential may begin.
static SIGNS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let signs = SIGN.iter().map(|(sign, _)| sign);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(signs)
        .ok()
});

/// The secrets that are known.
static KNOWN: ArcSwapOption<AhoCorasick> = ArcSwapOption::const_empty();

/// The same, as they were given.
static KEPT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

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

/// From now on this secret is taken out of the log, for as long as the process lives: an older version of a plugin may
/// still use it.
pub fn keep(secret: &str) {
    let secret = secret.trim();
    if secret.len() < SHORTEST {
        return;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= MOST || !kept.insert(secret.to_owned()) {
        return;
    }
    // As it is, and as a debugging print quotes it.
    let quoted = kept.iter().map(|secret| secret.escape_debug().to_string());
    let all: BTreeSet<String> = kept.iter().cloned().chain(quoted).collect();
    let found = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(all);
    KNOWN.store(found.ok().map(Arc::new));
}

/// A text without credentials.
pub fn scrub(text: &str) -> Cow<'_, str> {
    let known = KNOWN.load();
    let text: Cow<'_, str> = match &*known {
        Some(known) if known.is_match(text) => {
            let mut out = String::with_capacity(text.len());
            known.replace_all_with(text, &mut out, |_, _, out| {
                out.push_str(REDACTED);
                true
            });
            out.into()
        }
        _ => text.into(),
    };
    match likely(&text) {
        Some(without) => without.into(),
        None => text,
    }
}

/// The text without what looks like a credential; none where nothing does.
fn likely(text: &str) -> Option<String> {
    let signs = SIGNS.as_ref()?;
    let mut out = String::new();
    // Copied up to here; and nothing that begins before there is a JWT.
    let (mut done, mut no_jwt) = (0, 0);
    for sign in signs.find_iter(text) {
        if sign.start() < done {
            continue;
        }
        let rest = &text[sign.end()..];
        let found = match SIGN[sign.pattern().as_usize()].1 {
            Follows::Token => token(rest).map(|(from, len)| (sign.end() + from, len)),
            Follows::Rest => {
                let len = run(rest, is_url_safe);
                (len >= OURS).then_some((sign.start(), len + sign.len()))
            }
            Follows::Jwt if sign.start() < no_jwt || &text[sign.range()] != "eyJ" => None,
            Follows::Jwt => {
                let whole = &text[sign.start()..];
                let len = jwt(whole);
                if len.is_none() {
                    no_jwt = sign.start() + run(whole, is_url_safe);
                }
                len.map(|len| (sign.start(), len))
            }
            Follows::Value => value(rest).map(|(from, len)| (sign.end() + from, len)),
        };
        if let Some((from, len)) = found {
            out.push_str(&text[done..from]);
            out.push_str(REDACTED);
            done = from + len;
        }
    }
    (done > 0).then(|| {
        out.push_str(&text[done..]);
        out
    })
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
fn jwt(text: &str) -> Option<usize> {
    let head = run(text, is_url_safe);
    if head < HEAD {
        return None;
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

#[cfg(test)]
mod tests {
    use super::*;

    const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl";
    const OWN: &str = "loggia_q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA";

    #[test]
    fn what_looks_like_a_credential_is_taken_out() {
        let check = |text: &str, expected: &str| assert_eq!(scrub(text), expected, "{text}");
        // Bearer tokens, wherever they stand.
        check("Bearer abc", "Bearer [redacted]");
        check("got bearer  a.b~c+d/e== twice", "got bearer  [redacted] twice");
        check("BEARER\tX", "BEARER\t[redacted]");
        check(&format!("Bearer {JWT}, and {JWT}."), "Bearer [redacted], and [redacted]");
        // Headers, as they are sent, as `{:?}` and JSON write them, and JSON in a text.
        check("Authorization: Basic dXNlcjpwYXNz", "Authorization: [redacted]");
        check("authorization=Basic dXNlcjpwYXNz", "authorization=[redacted]");
        check(r#"{"authorization": "Digest a=\"b\""}"#, r#"{"authorization": "[redacted]\"b\""}"#);
        check(r#"{\"Authorization\":\"Basic x\"}"#, r#"{\"Authorization\":\"[redacted]\"}"#);
        check(r#"("proxy-authorization", "Basic x, y")"#, r#"("proxy-authorization", "[redacted]")"#);
        check("Cookie: a=b; c=d\r\nHost: x", "Cookie: [redacted]\r\nHost: x");
        check(r#"set-cookie: "a=b""#, r#"set-cookie: "[redacted]""#);
        check("POST /token access_token=abc", "POST /token access_token=[redacted]");
        check(r#"Args { password: "hunter2", n: 1 }"#, r#"Args { password: "[redacted]", n: 1 }"#);
        check("x-api-key: k, then more", "x-api-key: [redacted], then more");
        // Tokens of ours and JWTs, also in the middle of what may be anything.
        check(&format!("<{OWN}>"), "<[redacted]>");
        check(&format!("token={OWN}&x"), "token=[redacted]&x");
        check(&format!("x{JWT}x y"), "x[redacted] y");
        check("cut off eyJhbGciOiJSUzI1NiJ9", "cut off [redacted]");
        check("cut off eyJhbGciOiJSUzI1NiJ9.eyJzd", "cut off [redacted]");
        check("eyJhbGciOiJSUzI1NiJ9.a.b.c.d é", "[redacted] é");
    }

    #[test]
    fn what_only_speaks_of_credentials_stays() {
        for text in [
            "",
            "plain text é",
            "a bearer token is missing",
            "send a Bearer token.",
            "bearer",
            "bearers of news",
            "the authorization server cannot be reached",
            "authorization, and what follows it",
            "cookies are not used: nothing is kept",
            "loggia_calls_total loggia_log_lines_dropped_total",
            "eyJ is what base64 makes of a brace",
            "eyJhbGciOiJSUzI1NiJ9 alone is no JWT",
            "EYJHBGCIOIJSUZI1NIJ9.EYJZDWI.C",
            "Authorization: ",
            "authorization: [redacted]",
        ] {
            assert_eq!(scrub(text), text);
        }
    }

    #[test]
    fn known_secrets_are_taken_out_as_they_are_and_as_debugging_quotes_them() {
        keep("  scrub-canary-1\n");
        keep(r#"scrub"canary\2"#);
        keep("short");
        let text = r#"<scrub-canary-1> scrub"canary\2 short"#;
        assert_eq!(scrub(text), "<[redacted]> [redacted] short");
        assert_eq!(scrub(&format!("{text:?}")), r#""<[redacted]> [redacted] short""#);
    }

    #[test]
    fn nothing_is_looked_at_again_and_again() {
        // Quadratic time would take minutes.
        for piece in ["eyJ", "loggia_", "bearer ", "authorization", "eyJhbGciOiJSUzI1NiJ9 ", "cookie:"] {
            let text = piece.repeat((512 << 10) / piece.len());
            assert!(scrub(&text).len() <= text.len() * 2, "{piece}");
        }
    }
}
