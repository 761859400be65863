//! API keys of known shapes.

use crate::scan::{Found, begins_word, run};

/// A shape: how a key begins, and the bytes after that.
struct KeyShape {
    prefix: &'static str,
    tail: KeyTail,
}

/// What follows the beginning of a key.
enum KeyTail {
    /// Exactly so many capital letters and digits.
    Capitals(usize),
    /// At least so many letters, digits, `_` and `-`.
    AtLeast(usize),
    /// At least so many of them and dots.
    Dotted(usize),
    /// At least so many of them, of which 16 letters and digits in a row, since words with hyphens begin so, too.
    Dense(usize),
}

const SHAPES: [KeyShape; 42] = [
    shape("AKIA", KeyTail::Capitals(16)),
    shape("ASIA", KeyTail::Capitals(16)),
    shape("AGE-SECRET-KEY-1", KeyTail::AtLeast(50)),
    shape("AIza", KeyTail::AtLeast(35)),
    shape("SG.", KeyTail::Dotted(40)),
    shape("dapi", KeyTail::Dense(32)),
    shape("dop_v1_", KeyTail::AtLeast(64)),
    shape("figd_", KeyTail::Dense(40)),
    shape("ghp_", KeyTail::AtLeast(36)),
    shape("gho_", KeyTail::AtLeast(36)),
    shape("ghu_", KeyTail::AtLeast(36)),
    shape("ghs_", KeyTail::AtLeast(36)),
    shape("ghr_", KeyTail::AtLeast(36)),
    shape("github_pat_", KeyTail::AtLeast(22)),
    shape("glpat-", KeyTail::AtLeast(20)),
    shape("glrt-", KeyTail::AtLeast(20)),
    shape("gsk_", KeyTail::Dense(32)),
    shape("hf_", KeyTail::Dense(30)),
    shape("hvs.", KeyTail::Dense(20)),
    shape("lin_api_", KeyTail::AtLeast(32)),
    shape("loggia_", KeyTail::Dense(40)),
    shape("npm_", KeyTail::Dense(36)),
    shape("ntn_", KeyTail::Dense(32)),
    shape("pypi-", KeyTail::Dense(40)),
    shape("r8_", KeyTail::Dense(32)),
    shape("rk_live_", KeyTail::Dense(16)),
    shape("rk_test_", KeyTail::Dense(16)),
    shape("secret_", KeyTail::Dense(40)),
    shape("shpat_", KeyTail::Dense(32)),
    shape("shpss_", KeyTail::Dense(32)),
    shape("sk-", KeyTail::Dense(20)),
    shape("sk_live_", KeyTail::Dense(16)),
    shape("sk_test_", KeyTail::Dense(16)),
    shape("whsec_", KeyTail::Dense(24)),
    shape("xai-", KeyTail::Dense(40)),
    shape("xapp-", KeyTail::AtLeast(20)),
    shape("xoxa-", KeyTail::AtLeast(10)),
    shape("xoxb-", KeyTail::AtLeast(10)),
    shape("xoxp-", KeyTail::AtLeast(10)),
    shape("xoxr-", KeyTail::AtLeast(10)),
    shape("xoxs-", KeyTail::AtLeast(10)),
    shape("ya29.", KeyTail::AtLeast(20)),
];

const fn shape(prefix: &'static str, tail: KeyTail) -> KeyShape {
    KeyShape { prefix, tail }
}

/// Letters and digits in a row that no word has.
const DENSE: usize = 16;

/// Finds keys.
pub fn find(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if !begins_word(bytes, at) {
            at += 1;
            continue;
        }
        let end = SHAPES.iter().find_map(|shape| shape.end(bytes, at));
        found.extend(end.map(|end| at..end));
        at = end.unwrap_or(at + 1);
    }
    found
}

impl KeyShape {
    /// End of a key that begins here.
    fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let from = at + self.prefix.len();
        if bytes.get(at..from)? != self.prefix.as_bytes() {
            return None;
        }
        let length = match self.tail {
            KeyTail::Capitals(exact) => {
                let length = run(bytes, from, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
                let is_whole = bytes.get(from + length).is_none_or(|byte| !byte.is_ascii_alphanumeric());
                Some(length).filter(|length| *length == exact && is_whole)
            }
            KeyTail::AtLeast(least) => Some(run(bytes, from, is_key)).filter(|length| *length >= least),
            KeyTail::Dotted(least) => {
                Some(run(bytes, from, |byte| is_key(byte) || byte == b'.')).filter(|length| *length >= least)
            }
            KeyTail::Dense(least) => {
                let length = run(bytes, from, is_key);
                let mut parts = bytes[from..from + length].split(|byte| !byte.is_ascii_alphanumeric());
                let is_dense = parts.any(|part| part.len() >= DENSE);
                Some(length).filter(|length| *length >= least && is_dense)
            }
        };
        length.map(|length| from + length)
    }
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
