//! The times of lines that come by the thousand a second.

use std::time::{Duration, SystemTime};

use super::line::format_time;

/// Renders times as [`format_time`] does. The text of a second is kept for its other lines: calendars cost more than digits.
#[derive(Default)]
pub struct LineClock {
    /// Seconds since 1970.
    second: Option<u64>,
    /// Text of that second, up to its fraction.
    text: String,
}

/// Digits of a fraction: microseconds.
const DIGITS: usize = 6;

impl LineClock {
    /// Creates a clock.
    pub const fn new() -> Self {
        Self { second: None, text: String::new() }
    }

    /// Appends a time. One before 1970 counts as 1970.
    pub fn push(&mut self, time: SystemTime, out: &mut String) {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if self.second != Some(since.as_secs()) {
            self.second = Some(since.as_secs());
            let whole = SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs());
            self.text = format_time(whole);
            self.text.truncate(self.text.rfind('.').unwrap_or_default());
        }
        out.extend([self.text.as_str(), "."]);
        push_digits(since.subsec_micros(), out);
        out.push('Z');
    }
}

/// Appends a duration in milliseconds, with up to three decimals.
pub fn push_milliseconds(took: Duration, out: &mut String) {
    let micros = (took.as_nanos() + 500) / 1000;
    out.push_str(&(micros / 1000).to_string());
    let fraction = u32::try_from(micros % 1000).unwrap_or_default();
    if fraction > 0 {
        out.push('.');
        push_digits(fraction * 1000, out);
        out.truncate(out.trim_end_matches('0').len());
    }
}

fn push_digits(number: u32, out: &mut String) {
    let mut digits = ['0'; DIGITS];
    let mut left = number;
    for digit in digits.iter_mut().rev() {
        *digit = char::from_digit(left % 10, 10).unwrap_or_default();
        left /= 10;
    }
    out.extend(digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_log() {
        let mut clock = LineClock::new();
        for micros in [0, 1, 999_999, 1_000_000, 1_000_001, 1_795_764_402_120_034, 1_795_764_402_000_000, 7] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_micros(micros);
            let mut out = String::new();
            clock.push(time, &mut out);
            assert_eq!(out, format_time(time));
        }
    }

    #[test]
    fn durations_have_three_decimals_at_most() {
        for (nanos, expected) in [
            (0, "0"),
            (499, "0"),
            (500, "0.001"),
            (1_500_000, "1.5"),
            (2_000_000, "2"),
            (10_020_400, "10.02"),
            (61_234_567_890, "61234.568"),
        ] {
            let mut out = String::new();
            push_milliseconds(Duration::from_nanos(nanos), &mut out);
            assert_eq!(out, expected);
        }
    }
}
