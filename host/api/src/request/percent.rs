//! Percent-encoding.

use std::fmt::Write;

/// Encodes everything but unreserved characters, so that a value can hold no syntax of a URL.
pub(super) fn encode(text: &str) -> String {
    encode_but(text, "")
}

/// Encodes a query value in which reserved characters may stay. Those that separate parameters are encoded all the same.
pub(super) fn encode_reserved(text: &str) -> String {
    encode_but(text, ":/?@!$'()*,")
}

fn encode_but(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || (c.is_ascii() && kept.contains(c)) {
            out.push(c);
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
