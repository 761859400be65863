//! Numbers of payment cards.

use crate::scan::{Found, is_word, run};

/// Digits of a number.
const MIN: usize = 13;
const MAX: usize = 19;

/// Finds numbers of known issuers with a valid check digit, with or without separators.
pub fn find(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let is_first = at == 0 || !is_word(bytes[at - 1]) && !matches!(bytes[at - 1], b'-' | b'.' | b'+');
        if !bytes[at].is_ascii_digit() || !is_first {
            at += 1;
            continue;
        }
        let (digits, end) = number(bytes, at);
        let ends = bytes.get(end).is_none_or(|byte| !is_word(*byte) && *byte != b'-');
        if (MIN..=MAX).contains(&digits.len()) && ends && is_issued(&digits) && is_valid(&digits) {
            found.push(at..end);
            at = end;
        } else {
            at += run(bytes, at, |byte| byte.is_ascii_digit());
        }
    }
    found
}

/// Digits of a number in groups with one kind of separator, and its end. One digit more than a card has is read.
fn number(bytes: &[u8], at: usize) -> (Vec<u8>, usize) {
    let (mut digits, mut end, mut separator) = (Vec::new(), at, None);
    while digits.len() <= MAX {
        let length = run(bytes, end, |byte| byte.is_ascii_digit()).min(MAX + 1);
        digits.extend(bytes[end..end + length].iter().map(|byte| byte - b'0'));
        end += length;
        let Some(byte) = bytes.get(end).copied().filter(|byte| matches!(byte, b' ' | b'-')) else { break };
        let is_next = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if length == 0 || !is_next || *separator.get_or_insert(byte) != byte {
            break;
        }
        end += 1;
    }
    (digits, end)
}

/// Whether an issuer has numbers that begin so.
fn is_issued(digits: &[u8]) -> bool {
    let begins = digits[..4].iter().fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    matches!(begins, 2221..=2720 | 3000..=3059 | 3400..=3499 | 3528..=3589 | 3600..=3999 | 4000..=4999 | 5000..=5999 | 6000..=6999)
}

/// Checks the last digit (Luhn).
fn is_valid(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match u32::from(*digit) {
            digit if at.is_multiple_of(2) => digit,
            digit if digit > 4 => digit * 2 - 9,
            digit => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}
