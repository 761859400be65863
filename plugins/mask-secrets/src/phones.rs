//! Telephone numbers: international ones with `+`, and North American ones.

use crate::scan::{Found, ends_word, is_word, run};

/// Digits of an international number (E.164), with the country's.
const MIN_DIGITS: usize = 8;
const MAX_DIGITS: usize = 15;

/// Finds numbers.
pub fn find(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let is_first = at == 0 || !is_word(bytes[at - 1]) && !matches!(bytes[at - 1], b'-' | b'.' | b'+');
        let end = match bytes[at] {
            b'+' if is_first => international(bytes, at),
            b'(' | b'2'..=b'9' if is_first => north_american(bytes, at),
            _ => None,
        };
        found.extend(end.map(|end| at..end));
        at = end.unwrap_or(at + 1);
    }
    found
}

/// `+49 30 1234567`: groups of digits, of which one is in parentheses at most.
fn international(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut digits, mut end, mut next) = (0, at, at + 1);
    while let Some(byte) = bytes.get(next) {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                next += 1;
                end = next;
            }
            // Two separators stand beside a parenthesis alone.
            b' ' | b'-' | b'.' | b'/' if end + 1 >= next && digits > 0 => next += 1,
            b'(' | b')' if digits > 0 && end + 1 >= next => next += 1,
            _ => break,
        }
        if digits > MAX_DIGITS || next > end + 2 {
            break;
        }
    }
    ((MIN_DIGITS..=MAX_DIGITS).contains(&digits) && ends_word(bytes, end)).then_some(end)
}

/// `(555) 223-4567`, `555-223-4567`, `555.223.4567`.
fn north_american(bytes: &[u8], at: usize) -> Option<usize> {
    let has_parenthesis = bytes[at] == b'(';
    let area = at + usize::from(has_parenthesis);
    let group = |at: usize, digits: usize| {
        (run(bytes, at, |byte| byte.is_ascii_digit()) == digits).then_some(at + digits)
    };
    let separated =
        |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'-' | b'.')).then_some(at + 1);
    // Neither the area nor the exchange begins with 0 or 1.
    let begins = |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, b'2'..=b'9')).then_some(at);
    let mut end = group(begins(area)?, 3)?;
    if has_parenthesis {
        end = bytes.get(end).filter(|byte| **byte == b')').map(|_| end + 1)?;
        end += run(bytes, end, |byte| byte == b' ').min(1);
    } else {
        end = separated(end)?;
    }
    end = separated(group(begins(end)?, 3)?)?;
    end = group(end, 4)?;
    (ends_word(bytes, end) && bytes.get(end) != Some(&b'-')).then_some(end)
}
