//! Characters, and runs of them. Positions are bytes; what is looked for begins and ends with ASCII, so that they are at the
//! boundaries of characters.

use std::ops::Range;

/// Place of a find in a text.
pub type Found = Range<usize>;

/// Length of the run of bytes from `at` on that satisfy a condition.
pub fn run(bytes: &[u8], at: usize, fits: impl Fn(u8) -> bool) -> usize {
    bytes.get(at..).unwrap_or_default().iter().take_while(|byte| fits(**byte)).count()
}

/// Whether a word may begin here: the byte before belongs to none.
pub fn begins_word(bytes: &[u8], at: usize) -> bool {
    at == 0 || !is_word(bytes[at - 1])
}

/// Whether a word may end here: the byte at this place belongs to none.
pub fn ends_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| !is_word(*byte))
}

/// Letters of any language, digits, underscores.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Characters of Base64 for URLs.
pub fn is_base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether the text continues with these ASCII letters, in any case.
pub fn continues(bytes: &[u8], at: usize, word: &str) -> bool {
    bytes.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
}

/// A number that may be written in groups: its digits, and where it ends. At most `most` digits are read; one separator
/// may stand between two digits.
pub fn grouped(bytes: &[u8], at: usize, most: usize, separates: impl Fn(u8) -> bool) -> (Vec<u8>, usize) {
    let (mut taken, mut end, mut next) = (Vec::new(), at, at);
    while let Some(byte) = bytes.get(next).filter(|_| taken.len() < most) {
        match byte {
            byte if byte.is_ascii_alphanumeric() => {
                taken.push(*byte);
                next += 1;
                end = next;
            }
            byte if separates(*byte) && end == next => next += 1,
            _ => break,
        }
    }
    (taken, end)
}
