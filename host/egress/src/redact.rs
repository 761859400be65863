//! An upstream may echo what it was sent. What it was sent as a secret is blotted out on its way back.
//!
//! This stops honest echoes (an error that quotes the request, a debugging endpoint), in plain text, as JSON writes it,
//! in base64 and percent encoding. It cannot stop an upstream that means to tell: who is given a secret has it.

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use bytes::Bytes;
use memchr::memmem;

/// What must not come back.
#[derive(Default, Clone)]
pub(crate) struct Patterns(Vec<Vec<u8>>);

impl Patterns {
    /// A secret, and the header's whole value.
    pub fn add(&mut self, value: &[u8], header: &[u8]) {
        self.pattern(value.to_vec());
        self.pattern(header.to_vec());
        for text in [value, header] {
            self.pattern(percent(text, str::to_owned));
            self.pattern(percent(text, str::to_ascii_lowercase));
            self.pattern(json(text, false));
            self.pattern(json(text, true));
            for shift in 0..3 {
                let standard = base64(text, shift);
                let url = standard.iter().map(|b| match b {
                    b'+' => b'-',
                    b'/' => b'_',
                    b => *b,
                });
                self.pattern(url.collect());
                self.pattern(standard);
            }
        }
    }

    fn pattern(&mut self, pattern: Vec<u8>) {
        if !self.0.contains(&pattern) {
            self.0.push(pattern);
        }
    }

    /// A text without them, if it holds any.
    pub fn mask(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut out = text.to_vec();
        (self.cover(text, &mut out) > 0).then_some(out)
    }

    /// The values of headers without them.
    pub fn mask_headers(&self, headers: &mut http::HeaderMap) {
        for value in headers.values_mut() {
            if let Some(masked) = self.mask(value.as_bytes()) {
                // Asterisks are as good in a header as what they stand for.
                *value =
                    http::HeaderValue::from_bytes(&masked).unwrap_or(http::HeaderValue::from_static("*"));
            }
        }
    }

    /// Blots out in `out`, the beginning of `raw`, whatever of `raw` is a secret, and returns where the last of those
    /// that begin within `out` ends.
    fn cover(&self, raw: &[u8], out: &mut [u8]) -> usize {
        let mut last = 0;
        for pattern in &self.0 {
            let finder = memmem::Finder::new(pattern);
            let (mut from, mut done) = (0, 0);
            // Overlapping occurrences count: of "abab", "ababab" holds two.
            while let Some(at) = finder.find(&raw[from..]).map(|at| from + at) {
                if at >= out.len() {
                    break;
                }
                let end = at + pattern.len();
                let shown = end.min(out.len());
                out[at.max(done)..shown].fill(b'*');
                done = shown;
                last = last.max(end);
                from = at + 1;
            }
        }
        last
    }

    /// How many bytes at the end of a text may be the beginning of a secret.
    fn begun(&self, text: &[u8]) -> usize {
        let begun = |pattern: &Vec<u8>| {
            let most = text.len().min(pattern.len() - 1);
            (1..=most).rev().find(|n| pattern.starts_with(&text[text.len() - n..])).unwrap_or(0)
        };
        self.0.iter().map(begun).max().unwrap_or(0)
    }
}

/// Blots secrets out of a stream, in chunks of any size, without changing its length.
pub(crate) struct Redactor {
    patterns: Patterns,
    /// Held back, since it may be the beginning of a secret.
    tail: Vec<u8>,
    /// How much of the tail belongs to a secret that began before it.
    covered: usize,
}

impl Redactor {
    pub fn new(patterns: Patterns) -> Self {
        Self { patterns, tail: Vec::new(), covered: 0 }
    }

    /// Bytes that are held back.
    pub fn held(&self) -> usize {
        self.tail.len()
    }

    /// Whether nothing is held back.
    pub fn is_empty(&self) -> bool {
        self.tail.is_empty()
    }

    /// What can be passed on now.
    pub fn feed(&mut self, chunk: &[u8]) -> Bytes {
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

    /// What was held back, at the stream's end.
    pub fn end(&mut self) -> Bytes {
        let mut rest = std::mem::take(&mut self.tail);
        let raw = rest.clone();
        self.patterns.cover(&raw, &mut rest);
        rest[..self.covered].fill(b'*');
        self.covered = 0;
        rest.into()
    }
}

/// The characters of base64 that a text decides alone when `shift` other bytes stand before it.
fn base64(text: &[u8], shift: usize) -> Vec<u8> {
    let mut padded = vec![0; shift];
    padded.extend_from_slice(text);
    let encoded = STANDARD_NO_PAD.encode(&padded).into_bytes();
    let first = (shift * 8).div_ceil(6);
    encoded[first..padded.len() * 8 / 6].to_vec()
}

/// What JSON makes of a text. Some writers, PHP's among them, put a backslash before each slash.
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
    use proptest::prelude::*;

    use super::{Patterns, Redactor};

    #[test]
    fn what_json_and_percent_encoding_make_of_a_secret_is_found() {
        let mut patterns = Patterns::default();
        patterns.add(br#"ab/cd"ef\gh+ij="#, br#"Bearer ab/cd"ef\gh+ij="#);
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

    /// Each byte of a whole text that lies in an occurrence of a pattern.
    fn naive(text: &[u8], patterns: &[Vec<u8>]) -> Vec<u8> {
        let hidden = |at: usize| {
            patterns.iter().any(|p| {
                (0..text.len()).any(|from| from <= at && at < from + p.len() && text[from..].starts_with(p))
            })
        };
        (0..text.len()).map(|at| if hidden(at) { b'*' } else { text[at] }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..Default::default() })]

        // Few letters, so that occurrences overlap, and begin where others end.
        #[test]
        fn chunks_hide_nothing(
            patterns in proptest::collection::vec("[ab]{2,6}", 1..4),
            chunks in proptest::collection::vec("[abc]{0,9}", 0..9),
        ) {
            let patterns: Vec<Vec<u8>> = patterns.into_iter().map(String::into_bytes).collect();
            let mut redactor = Redactor::new(Patterns(patterns.clone()));
            let mut out = Vec::new();
            for chunk in &chunks {
                out.extend(redactor.feed(chunk.as_bytes()));
                let held = redactor.held();
                prop_assert!(held < 6, "{} bytes held back", held);
            }
            out.extend(redactor.end());
            prop_assert_eq!(out, naive(chunks.concat().as_bytes(), &patterns));
        }

        #[test]
        fn base64_is_found_wherever_the_secret_stands(
            before in proptest::collection::vec(any::<u8>(), 0..20), secret in "[!-~]{8,40}",
            after in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            use base64::{Engine, engine::general_purpose::{STANDARD, URL_SAFE}};
            let mut patterns = Patterns::default();
            patterns.add(secret.as_bytes(), secret.as_bytes());
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
