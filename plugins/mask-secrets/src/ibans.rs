//! International bank account numbers (ISO 13616).

use crate::scan::{Found, begins_word, ends_word, grouped};

/// Longest number.
const MAX: usize = 34;

/// Lengths by country.
const LENGTHS: [(&[u8; 2], usize); 77] = [
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NL", 18),
    (b"NO", 15),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"XK", 20),
];

/// Finds numbers with valid check digits, with or without spaces.
pub fn find(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let end =
            (bytes[at].is_ascii_uppercase() && begins_word(bytes, at)).then(|| end(bytes, at)).flatten();
        found.extend(end.map(|end| at..end));
        at = end.unwrap_or(at + 1);
    }
    found
}

fn end(bytes: &[u8], at: usize) -> Option<usize> {
    let country = bytes.get(at..at + 2)?;
    let (_, length) = LENGTHS.iter().find(|(code, _)| code.as_slice() == country)?;
    let (number, end) = grouped(bytes, at, (*length).min(MAX), |byte| byte == b' ');
    let is_whole = number.len() == *length && ends_word(bytes, end);
    (is_whole && is_valid(&number)).then_some(end)
}

/// Whether the number, with its first four characters moved to the end and letters as numbers, is 1 modulo 97.
fn is_valid(number: &[u8]) -> bool {
    let rest = number[4..].iter().chain(&number[..4]).try_fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => Some((rest * 10 + u32::from(byte - b'0')) % 97),
        b'A'..=b'Z' => Some((rest * 100 + u32::from(byte - b'A') + 10) % 97),
        _ => None,
    });
    rest == Some(1)
}
