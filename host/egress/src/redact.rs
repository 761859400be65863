//! Redaction of secrets that an upstream echoes.
//!
//! This stops honest echoes (an error that quotes the request, a debugging endpoint), in plain text, JSON, base64 and percent
//! encoding, whole or truncated. It cannot stop a malicious upstream: it has the secret.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use bytes::Bytes;
use memchr::memmem;

/// Patterns that must not appear in a response.
#[derive(Default, Clone)]
pub(crate) struct SecretPatterns(Vec<SecretPattern>);

/// One encoding of a secret, with the lengths from which its beginning alone is redacted.
#[derive(Clone, PartialEq, Eq)]
struct SecretPattern {
    bytes: Vec<u8>,
    /// Length from which a beginning is redacted anywhere. A shorter one may be another token: tokens of one issuer begin alike.
    stem: usize,
    /// Length from which a beginning is redacted at the end of a text: a truncated echo.
    end: usize,
}

impl SecretPattern {
    /// `public` bytes at the beginning are the header's format, which is no secret.
    fn new(bytes: Vec<u8>, public: usize) -> Self {
        let hidden = bytes.len() - public;
        // Half of a secret, but no short word; of a truncated one at most a quarter, and at most five bytes, is shown.
        let stem = public + (hidden / 2).max(12).min(hidden);
        let end = public + (hidden / 4 + 1).clamp(3, 6).min(hidden);
        Self { bytes, stem, end }
    }

    /// Length of the common prefix of the pattern and a text.
    fn common_prefix(&self, text: &[u8]) -> usize {
        self.bytes.iter().zip(text).take_while(|(ours, theirs)| ours == theirs).count()
    }

    /// Length of the longest proper prefix of the pattern that a text ends with.
    fn begun(&self, text: &[u8]) -> usize {
        let most = text.len().min(self.bytes.len() - 1);
        (1..=most).rev().find(|n| self.bytes.starts_with(&text[text.len() - n..])).unwrap_or(0)
    }
}

impl SecretPatterns {
    /// Adds a secret, and the header's whole value, which contains it after `public` bytes.
    pub(crate) fn add(&mut self, value: &[u8], header: &[u8], public: usize) {
        for (text, public) in [(value, 0), (header, public)] {
            let mut add = |form: &dyn Fn(&[u8]) -> Vec<u8>| {
                self.pattern(SecretPattern::new(form(text), form(&text[..public]).len()));
            };
            add(&<[u8]>::to_vec);
            add(&|text| percent(text, str::to_owned));
            add(&|text| percent(text, str::to_ascii_lowercase));
            add(&|text| json(text, false));
            add(&|text| json(text, true));
            for shift in 0..3 {
                add(&|text| base64(text, shift));
                add(&|text| base64(text, shift).into_iter().map(url_safe).collect());
            }
        }
    }

    fn pattern(&mut self, pattern: SecretPattern) {
        if !self.0.contains(&pattern) {
            self.0.push(pattern);
        }
    }

    /// Redacts a whole text; none if it has no match.
    pub(crate) fn mask(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut out = text.to_vec();
        let covered = self.cover(text, &mut out) > 0;
        let cut = self.cover_end(&mut out, text);
        (covered || cut).then_some(out)
    }

    /// Redacts the values of headers.
    pub(crate) fn mask_headers(&self, headers: &mut http::HeaderMap) {
        for value in headers.values_mut() {
            if let Some(masked) = self.mask(value.as_bytes()) {
                // Asterisks are valid in a header.
                *value =
                    http::HeaderValue::from_bytes(&masked).unwrap_or(http::HeaderValue::from_static("*"));
            }
        }
    }

    /// Redacts all matches of `raw` in `out`, which is its beginning. Returns the end of the last match that begins within
    /// `out`.
    fn cover(&self, raw: &[u8], out: &mut [u8]) -> usize {
        let mut last = 0;
        for pattern in &self.0 {
            let finder = memmem::Finder::new(&pattern.bytes[..pattern.stem]);
            let (mut from, mut done) = (0, 0);
            // Overlapping matches count: "ababab" has two of "abab".
            while let Some(at) = finder.find(&raw[from..]).map(|at| from + at) {
                if at >= out.len() {
                    break;
                }
                let end = at + pattern.common_prefix(&raw[at..]);
                let shown = end.min(out.len());
                if shown > done {
                    out[at.max(done)..shown].fill(b'*');
                    done = shown;
                }
                last = last.max(end);
                from = at + 1;
            }
        }
        last
    }

    /// Redacts a secret's beginning at the end of a text.
    fn cover_end(&self, out: &mut [u8], raw: &[u8]) -> bool {
        let cut = self.0.iter().map(|pattern| (pattern.begun(raw), pattern.end));
        let most = cut.filter(|(begun, end)| begun >= end).map(|(begun, _)| begun).max().unwrap_or(0);
        let from = out.len() - most;
        out[from..].fill(b'*');
        most > 0
    }

    /// Number of bytes at the end of a text that may be the beginning of a secret.
    fn begun(&self, text: &[u8]) -> usize {
        self.0.iter().map(|pattern| pattern.begun(text)).max().unwrap_or(0)
    }
}

/// Redacts secrets in a stream, in chunks of any size, without changing its length.
pub(crate) struct StreamRedactor {
    patterns: Arc<SecretPatterns>,
    /// Bytes held back, since they may be the beginning of a secret.
    tail: Vec<u8>,
    /// Number of bytes of the tail that belong to a secret that began before it.
    covered: usize,
}

impl StreamRedactor {
    pub(crate) fn new(patterns: Arc<SecretPatterns>) -> Self {
        Self { patterns, tail: Vec::new(), covered: 0 }
    }

    /// Number of bytes held back.
    pub(crate) fn held(&self) -> usize {
        self.tail.len()
    }

    /// Tests whether no bytes are held back.
    pub(crate) fn is_empty(&self) -> bool {
        self.tail.is_empty()
    }

    /// Takes a chunk and returns the bytes that can be passed on now.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Bytes {
        let mut raw = std::mem::take(&mut self.tail);
        raw.extend_from_slice(chunk);
        let whole = raw.len() - self.patterns.begun(&raw);
        let mut out = raw[..whole].to_vec();
        let last = self.patterns.cover(&raw, &mut out).max(self.covered);
        out[..self.covered.min(whole)].fill(b'*');
        self.covered = last.saturating_sub(whole);
        self.tail = raw.split_off(whole);
        out.into()
    }

    /// Ends the stream and returns the bytes held back: redacted, since they are the beginning of a secret.
    pub(crate) fn end(&mut self) -> Bytes {
        let mut rest = std::mem::take(&mut self.tail);
        let raw = rest.clone();
        self.patterns.cover(&raw, &mut rest);
        self.patterns.cover_end(&mut rest, &raw);
        rest[..self.covered].fill(b'*');
        self.covered = 0;
        rest.into()
    }
}

fn url_safe(byte: u8) -> u8 {
    match byte {
        b'+' => b'-',
        b'/' => b'_',
        byte => byte,
    }
}

/// Encodes a text as base64 after `shift` other bytes, without the characters that depend on those or on what follows.
fn base64(text: &[u8], shift: usize) -> Vec<u8> {
    let mut padded = vec![0; shift];
    padded.extend_from_slice(text);
    let encoded = STANDARD_NO_PAD.encode(&padded).into_bytes();
    let first = (shift * 8).div_ceil(6);
    encoded.get(first..padded.len() * 8 / 6).unwrap_or_default().to_vec()
}

/// Escapes a text as JSON does. Some writers, PHP's among them, escape slashes too.
fn json(text: &[u8], slashes: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if matches!(byte, b'"' | b'\\') || (slashes && *byte == b'/') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

/// Hexadecimal digits are written in both cases.
fn percent(text: &[u8], case: impl Fn(&str) -> String) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(*byte),
            byte => out.extend(case(&format!("%{byte:02X}")).bytes()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{SecretPattern, SecretPatterns, StreamRedactor};

    const SECRET: &str = "ghp_S3cretS3cretS3cret42";

    fn patterns(secret: &str) -> SecretPatterns {
        let mut patterns = SecretPatterns::default();
        let header = format!("Bearer {secret}");
        patterns.add(secret.as_bytes(), header.as_bytes(), "Bearer ".len());
        patterns
    }

    /// A body that comes in pieces of so many bytes.
    fn through(body: &[u8], pieces: usize) -> String {
        let mut redactor = StreamRedactor::new(Arc::new(patterns(SECRET)));
        let mut out: Vec<u8> = body.chunks(pieces).flat_map(|piece| redactor.feed(piece)).collect();
        out.extend(redactor.end());
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn what_json_and_percent_encoding_make_of_a_secret_is_found() {
        let patterns = patterns(r#"ab/cd"ef\gh+ij="#);
        for text in [
            r#"ab/cd"ef\gh+ij="#,
            r#"ab/cd\"ef\\gh+ij="#,
            r#"ab\/cd\"ef\\gh+ij="#,
            "ab%2Fcd%22ef%5Cgh%2Bij%3D",
            "ab%2fcd%22ef%5cgh%2bij%3d",
        ] {
            let masked = patterns.mask(format!("<{text}>").as_bytes()).unwrap_or_default();
            assert_eq!(String::from_utf8_lossy(&masked), format!("<{}>", "*".repeat(text.len())), "{text}");
        }
    }

    /// The secret is sought in an echo that ends after each of its bytes.
    #[test]
    fn an_echo_that_is_cut_off_shows_no_more_than_a_few_bytes() {
        use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
        let encoded = STANDARD_NO_PAD.encode(format!("user:{SECRET}"));
        let percent = format!("Bearer%20{SECRET}");
        for (echo, shown) in [
            (SECRET, 5),
            (&format!("you sent Bearer {SECRET}"), "you sent Bearer ".len() + 5),
            (&format!(r#"{{"authorization": "Bearer {SECRET}"#), r#"{"authorization": "Bearer "#.len() + 5),
            (&percent, "Bearer%20".len() + 5),
            // "user:" decides six characters and a part of the seventh.
            (&encoded, 7 + 5),
        ] {
            for end in 1..=echo.len() {
                for pieces in [1, 7, 1000] {
                    let output = through(&echo.as_bytes()[..end], pieces);
                    let same = output.bytes().zip(echo.bytes()).take_while(|(a, b)| a == b).count();
                    assert!(same <= shown && output.len() == end, "{output} of {echo}");
                    // The last character of base64 holds fewer than six bits of the secret, or belongs to what follows.
                    let rest = if echo == encoded { output.len() - 1 } else { output.len() };
                    assert!(
                        output[same..rest.max(same)].bytes().all(|byte| byte == b'*'),
                        "{output} of {echo}"
                    );
                }
            }
        }
        // The header's format is no secret, and a short word is none either.
        assert_eq!(through(b"it must begin with Bearer", 9), "it must begin with Bearer");
        assert_eq!(through(b"it is called ghp_", 9), "it is called ghp_");
    }

    #[test]
    fn the_half_of_a_secret_is_blotted_out_wherever_it_stands() {
        // An error that shows the first characters of a token, followed by text.
        let output = through(format!(r#"{{"error": "bad token {}…"}}"#, &SECRET[..16]).as_bytes(), 5);
        assert_eq!(output, format!(r#"{{"error": "bad token {}…"}}"#, "*".repeat(16)));
        // Another token of the same issuer is left as it is.
        let other = "ghp_S3cOtherTokenOfTheSame";
        assert_eq!(through(other.as_bytes(), 3), other);
        let masked = patterns(SECRET).mask(format!("Bearer {}", &SECRET[..9]).as_bytes());
        assert_eq!(masked.as_deref(), Some(&b"****************"[..]), "a header ends as well");
    }

    /// Each byte of a whole text that lies in a pattern, or in enough of its beginning.
    fn naive(text: &[u8], patterns: &[SecretPattern]) -> Vec<u8> {
        let hidden = |at: usize| {
            patterns.iter().any(|p| {
                (0..=at).any(|from| {
                    let same = text[from..].iter().zip(&p.bytes).take_while(|(a, b)| a == b).count();
                    let is_cut = from + same == text.len() && same >= p.end && same < p.bytes.len();
                    at < from + same && (same >= p.stem || is_cut)
                })
            })
        };
        (0..text.len()).map(|at| if hidden(at) { b'*' } else { text[at] }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..Default::default() })]

        // Few letters, so that occurrences overlap, and begin where others end.
        #[test]
        fn chunks_hide_nothing(
            patterns in proptest::collection::vec(("[ab]{2,6}", 1..6usize, 1..6usize), 1..4),
            chunks in proptest::collection::vec("[abc]{0,9}", 0..9),
        ) {
            let made = |(text, stem, end): (String, usize, usize)| {
                let (stem, end) = (stem.min(text.len()), end.min(text.len()));
                SecretPattern { bytes: text.into_bytes(), stem: stem.max(end), end }
            };
            let patterns: Vec<SecretPattern> = patterns.into_iter().map(made).collect();
            let mut redactor = StreamRedactor::new(Arc::new(SecretPatterns(patterns.clone())));
            let mut out = Vec::new();
            for chunk in &chunks {
                out.extend(redactor.feed(chunk.as_bytes()));
                let held = redactor.held();
                prop_assert!(held < 6, "{} bytes held back", held);
            }
            out.extend(redactor.end());
            let expected = naive(chunks.concat().as_bytes(), &patterns);
            prop_assert_eq!(&out, &expected);
            let whole = SecretPatterns(patterns).mask(chunks.concat().as_bytes());
            prop_assert_eq!(whole.unwrap_or_else(|| chunks.concat().into_bytes()), expected);
        }

        #[test]
        fn base64_is_found_wherever_the_secret_stands(
            before in proptest::collection::vec(any::<u8>(), 0..20), secret in "[!-~]{8,40}",
            after in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            use base64::{Engine, engine::general_purpose::{STANDARD, URL_SAFE}};
            let mut patterns = SecretPatterns::default();
            patterns.add(secret.as_bytes(), secret.as_bytes(), 0);
            let text = [before.as_slice(), secret.as_bytes(), &after].concat();
            // What is left of it decodes to no more than the bytes beside its edges.
            for encoded in [STANDARD.encode(&text), URL_SAFE.encode(&text)] {
                let masked = patterns.mask(encoded.as_bytes()).unwrap_or_default();
                let stars = masked.iter().filter(|b| **b == b'*').count();
                prop_assert!(stars >= secret.len() * 4 / 3 - 2, "{} stars of {}", stars, secret.len());
            }
        }
    }
}
