//! Durations in Go's syntax: `300ms`, `1.5s`, `1h30m`.

use std::time::Duration;

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reasons to reject a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DurationError {
    Negative,
    Malformed,
    TooLong,
}

/// Parses a duration.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let (negative, rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let nanos = if rest == "0" { 0 } else { parse_nanos(rest)? };
    if negative && nanos > 0 {
        return Err(DurationError::Negative);
    }
    u64::try_from(nanos).map(Duration::from_nanos).map_err(|_| DurationError::TooLong)
}

/// Parses a sum of numbers with units. Like Go, counts in 63 bits.
fn parse_nanos(mut text: &str) -> Result<i64, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Malformed);
    }
    let mut sum: i64 = 0;
    while !text.is_empty() {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(end);
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(DurationError::Malformed)?;
        let part = parse_part(number, *unit)?;
        sum =
            i64::try_from(part).ok().and_then(|part| sum.checked_add(part)).ok_or(DurationError::TooLong)?;
        text = rest;
    }
    Ok(sum)
}

/// Parses a number of units. Drops fractions of a nanosecond.
fn parse_part(number: &str, unit: u64) -> Result<u128, DurationError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(DurationError::Malformed);
    }
    let digit = |byte: u8| u128::from(byte - b'0');
    let mut nanos: u128 = 0;
    for byte in whole.bytes() {
        nanos = nanos.saturating_mul(10).saturating_add(digit(byte));
    }
    nanos = nanos.saturating_mul(unit.into());
    // No unit has more than fourteen digits.
    let mut scale = u128::from(unit);
    let (mut numerator, mut denominator) = (0, 1);
    for byte in fraction.bytes().take(18) {
        numerator = numerator * 10 + digit(byte);
        denominator *= 10;
    }
    scale = scale * numerator / denominator;
    Ok(nanos.saturating_add(scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_follow_go() {
        let check = |text: &str, expected: Result<u64, DurationError>| {
            assert_eq!(parse_duration(text), expected.map(Duration::from_nanos), "{text}");
        };
        const S: u64 = 1_000_000_000;
        check("0", Ok(0));
        check("-0", Ok(0));
        check("30s", Ok(30 * S));
        check("+5s", Ok(5 * S));
        check("1h30m", Ok(5400 * S));
        check("1.5s", Ok(S + S / 2));
        check(".5s", Ok(S / 2));
        check("1.s", Ok(S));
        check("300ms", Ok(300_000_000));
        check("1h1m1s1ms1us1ns", Ok(3661 * S + 1_001_001));
        check("3µs", Ok(3000));
        check("0.3333333333333333333h", Ok(1_199_999_999_999));
        check("2562047h47m16.854775807s", Ok(i64::MAX as u64));
        check("2562047h47m16.854775808s", Err(DurationError::TooLong));
        check(&format!("{}h", "9".repeat(400)), Err(DurationError::TooLong));
        check("-5s", Err(DurationError::Negative));
        for text in ["", "-", "5", "s", ".s", "1..5s", "1,5s", "5 s", " 5s", "5S", "5d", "1h 30m", "--5s"] {
            check(text, Err(DurationError::Malformed));
        }
    }
}
