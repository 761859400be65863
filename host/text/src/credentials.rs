//! Redaction of credentials in texts that are logged or returned.
//!
//! Two kinds are found: texts that look like credentials (`likely.rs`), and the values of secrets that the operator's policies
//! name (`known.rs`). Our own code logs neither; this is for output of guests, debugging output of libraries, and mistakes.
//! Time is linear in the text, which may be hostile.

use std::borrow::Cow;

use crate::{
    known::{self, SHORTEST},
    likely,
    redacted::REDACTED,
};

/// Redacts credentials.
pub fn redact(text: &str) -> Cow<'_, str> {
    match text.len() < SHORTEST {
        true => text.into(),
        false => redact_spans(text, false),
    }
}

/// Redacts the beginning of a longer text: credentials, and a possible beginning of one at the end.
pub fn redact_beginning(text: &str) -> Cow<'_, str> {
    redact_spans(text, true)
}

/// Finds a position at or before the byte `at` where a text can be split without splitting a credential; after `at` if a
/// credential begins the text. Never 0, unless the text is empty or `at` is 0.
pub fn seam(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let known = known::spans(text, true).into_iter().map(|span| (span.start, span.end));
    let likely = likely::spans(text, true).into_iter().map(|span| (span.sign, span.end));
    let mut spans: Vec<(usize, usize)> = known.chain(likely).collect();
    spans.sort_unstable();
    let mut at = text.floor_char_boundary(at);
    if let Some((from, _)) = spans.iter().rev().find(|(from, end)| *from < at && at < *end) {
        // The credential around the position may itself lie in another.
        at = spans
            .iter()
            .rev()
            .find(|(other, end)| other < from && from < end)
            .map_or(*from, |(other, _)| *other);
    }
    if at > 0 || text.is_empty() {
        return at;
    }
    spans
        .iter()
        .filter(|(from, _)| *from == 0)
        .map(|(_, end)| *end)
        .max()
        .unwrap_or_else(|| text.ceil_char_boundary(1))
}

fn redact_spans(text: &str, cut: bool) -> Cow<'_, str> {
    let text = replace_spans(text, known::spans(text, cut).into_iter().map(|span| (span.start, span.end)));
    let likely = likely::spans(&text, cut);
    let spans = likely.into_iter().map(|span| (span.from, span.end));
    match text {
        Cow::Borrowed(text) => replace_spans(text, spans),
        Cow::Owned(text) => replace_spans(&text, spans).into_owned().into(),
    }
}

fn replace_spans(text: &str, spans: impl Iterator<Item = (usize, usize)>) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for (from, end) in spans {
        out.push_str(&text[done..from]);
        out.push_str(REDACTED);
        done = end;
    }
    if done == 0 {
        return text.into();
    }
    out.push_str(&text[done..]);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keep_secret;

    const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl";
    const OWN: &str = "loggia_q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA";

    #[test]
    fn what_looks_like_a_credential_is_taken_out() {
        let check = |text: &str, expected: &str| assert_eq!(redact(text), expected, "{text}");
        // Bearer tokens, in any position.
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
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn known_secrets_are_taken_out_as_they_are_and_as_debugging_quotes_them() {
        keep_secret("  text-canary-1\n");
        keep_secret(r#"text"canary\2"#);
        keep_secret("short");
        let text = r#"<text-canary-1> text"canary\2 short"#;
        assert_eq!(redact(text), "<[redacted]> [redacted] short");
        assert_eq!(redact(&format!("{text:?}")), r#""<[redacted]> [redacted] short""#);
    }

    #[test]
    fn nothing_is_looked_at_again_and_again() {
        // Quadratic time would take minutes.
        for piece in ["eyJ", "loggia_", "bearer ", "authorization", "eyJhbGciOiJSUzI1NiJ9 ", "cookie:"] {
            let text = piece.repeat((512 << 10) / piece.len());
            assert!(redact(&text).len() <= text.len() * 2, "{piece}");
        }
    }

    /// H84.
    #[test]
    fn of_a_secret_that_a_cut_goes_through_nothing_is_shown() {
        const SECRET: &str = "cut-canary-7c1d/9e2f\"x";
        keep_secret(SECRET);
        for secret in [SECRET.to_owned(), SECRET.escape_debug().to_string(), OWN.to_owned(), JWT.to_owned()] {
            let text = format!("it was {secret} that was sent");
            for end in "it was ".len() + 3..=text.len() {
                let shown = redact_beginning(&text[..end]);
                let same = shown.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
                let allowed = "it was loggia_".len();
                assert!(same <= allowed && !shown.contains("canary"), "{shown} of {text}");
            }
            // A line is broken before a secret or behind it.
            for at in 0..text.len() {
                let seam = seam(&text, at);
                let whole = [&text[..seam], &text[seam..]].map(redact).concat();
                assert_eq!(whole, "it was [redacted] that was sent", "{at}");
                assert!(at == 0 || seam > 0, "something is taken");
            }
        }
        // The name of the credential is kept.
        let text = "Authorization: Basic dXNlcjpwYXNz";
        assert_eq!(seam(text, 20), text.len(), "nothing precedes it");
        assert_eq!(seam(&format!("> {text}"), 20), 2);
        assert_eq!(seam("plain text", 5), 5);
        assert_eq!(seam("plain", 50), 5);
        assert_eq!(seam("ä", 1), 2);
    }
}
