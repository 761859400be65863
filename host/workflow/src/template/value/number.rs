//! Exact JSON numbers, and their texts in Go.

use std::cmp::Ordering;

use serde_json::Number;

/// Integer or float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ExactNumber {
    /// Wide enough for `i64` and `u64`.
    Int(i128),
    Float(f64),
}

impl ExactNumber {
    /// Converts from JSON, exactly.
    pub(crate) fn from_json(number: &Number) -> Self {
        if let Some(int) = number.as_i64() {
            return Self::Int(int.into());
        }
        match number.as_u64() {
            Some(int) => Self::Int(int.into()),
            None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// Converts to JSON; `None` if JSON cannot represent the number.
    pub(crate) fn to_json(self) -> Option<Number> {
        match self {
            Self::Int(int) => match i64::try_from(int) {
                Ok(int) => Some(int.into()),
                Err(_) => u64::try_from(int).ok().map(Number::from),
            },
            Self::Float(float) => Number::from_f64(float),
        }
    }

    /// Returns the integer value, if the number is integral.
    pub(crate) fn as_integer(self) -> Option<i128> {
        // Beyond 2^100 a float is no meaningful count, index or code.
        const MOST: f64 = (1_u128 << 100) as f64;
        match self {
            Self::Int(int) => Some(int),
            #[allow(clippy::cast_possible_truncation, reason = "it is whole and not too large")]
            Self::Float(float) if float.fract() == 0.0 && float.abs() <= MOST => Some(float as i128),
            Self::Float(_) => None,
        }
    }

    /// Returns the number of steps that printing costs.
    pub(crate) fn cost(self) -> usize {
        match self {
            Self::Int(_) => 0,
            Self::Float(_) => 4,
        }
    }

    /// Returns the nearest float.
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            #[allow(clippy::cast_precision_loss, reason = "the nearest is what is asked for")]
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// Compares by value regardless of representation: templates written for ToolHive compare `10.0` with an integer
    /// 10.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self.as_integer(), other.as_integer()) {
            (Some(one), Some(other)) => Some(one.cmp(&other)),
            _ => self.to_f64().partial_cmp(&other.to_f64()),
        }
    }

    /// Formats as `{{.x}}` does. Unlike Go, which holds JSON numbers as floats, prints integers in full.
    pub(crate) fn to_text(self) -> String {
        match self {
            Self::Int(int) => int.to_string(),
            Self::Float(float) if float.fract() == 0.0 && float.abs() < 1e21 => format_plain(float),
            Self::Float(float) => format_shortest(float),
        }
    }

    /// Formats as Go does in JSON.
    pub(crate) fn to_json_text(self) -> String {
        match self {
            Self::Int(int) => int.to_string(),
            Self::Float(float) if float == 0.0 || (1e-6..1e21).contains(&float.abs()) => format_plain(float),
            Self::Float(float) => match format!("{float:e}").split_once('e') {
                Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
                _ => format!("{float:e}"),
            },
        }
    }
}

fn format_plain(float: f64) -> String {
    // Go and Rust both print -0.
    format!("{float}")
}

/// Formats with the fewest digits that identify the number, with an exponent below -4 or from 6 on.
fn format_shortest(float: f64) -> String {
    let text = format!("{float:e}");
    match text.split_once('e').and_then(|(digits, power)| Some((digits, power.parse::<i32>().ok()?))) {
        Some((digits, power)) if !(-4..6).contains(&power) => format_power(digits, power),
        Some(_) => format_plain(float),
        None => format_not_finite(float),
    }
}

/// Formats as `%e`: one digit before the point.
pub(crate) fn format_exponential(float: f64, precision: usize) -> String {
    let text = format!("{float:.precision$e}");
    match text.split_once('e').and_then(|(digits, power)| Some((digits, power.parse::<i32>().ok()?))) {
        Some((digits, power)) => format_power(digits, power),
        None => format_not_finite(float),
    }
}

/// Formats as `%g` with a precision: that many digits, without trailing zeros.
pub(crate) fn format_general(float: f64, precision: usize) -> String {
    let digits = precision.max(1);
    let text = format!("{float:.*e}", digits - 1);
    let Some((head, power)) = text.split_once('e').and_then(|(d, p)| Some((d, p.parse::<i32>().ok()?)))
    else {
        return format_not_finite(float);
    };
    let head = trim_zeros(head);
    let significant = head.bytes().filter(u8::is_ascii_digit).count();
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let fits = digits > significant && count(significant) > power;
    let most = if fits { count(significant) } else { count(digits) };
    if power < -4 || power >= most {
        return format_power(head, power);
    }
    let decimals = usize::try_from(count(digits) - 1 - power).unwrap_or(0);
    trim_zeros(&format!("{float:.decimals$}")).to_owned()
}

fn trim_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

fn format_power(digits: &str, power: i32) -> String {
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}

fn format_not_finite(float: f64) -> String {
    if float.is_nan() {
        "NaN".to_owned()
    } else if float > 0.0 {
        "+Inf".to_owned()
    } else {
        "-Inf".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_printed_whole() {
        let check = |num: ExactNumber, text: &str, json: &str| {
            assert_eq!((num.to_text().as_str(), num.to_json_text().as_str()), (text, json), "{num:?}");
        };
        check(ExactNumber::Int(9_007_199_254_740_993), "9007199254740993", "9007199254740993");
        check(ExactNumber::Int(u64::MAX.into()), "18446744073709551615", "18446744073709551615");
        check(ExactNumber::Float(3.0), "3", "3");
        check(ExactNumber::Float(1_234_567.0), "1234567", "1234567");
        check(ExactNumber::Float(1e20), "100000000000000000000", "100000000000000000000");
        check(ExactNumber::Float(1e21), "1e+21", "1e+21");
        check(ExactNumber::Float(1e-7), "1e-07", "1e-7");
        check(ExactNumber::Float(0.000_01), "1e-05", "0.00001");
        check(ExactNumber::Float(0.1), "0.1", "0.1");
        check(ExactNumber::Float(2.5), "2.5", "2.5");
        check(ExactNumber::Float(1_234_567.5), "1.2345675e+06", "1234567.5");
        check(ExactNumber::Float(-0.0), "-0", "-0");
    }

    #[test]
    fn numbers_compare_by_value() {
        let check = |one, other, expected| assert_eq!(ExactNumber::compare(one, other), Some(expected));
        check(ExactNumber::Int(3), ExactNumber::Float(3.0), Ordering::Equal);
        check(
            ExactNumber::Int(9_007_199_254_740_993),
            ExactNumber::Float(9_007_199_254_740_992.0),
            Ordering::Greater,
        );
        check(ExactNumber::Float(2.5), ExactNumber::Int(3), Ordering::Less);
        check(ExactNumber::Int(u64::MAX.into()), ExactNumber::Int(-1), Ordering::Greater);
        check(ExactNumber::Float(1e300), ExactNumber::Int(1), Ordering::Greater);
    }

    #[test]
    fn a_precision_counts_digits() {
        let check = |float, precision, expected: &str| assert_eq!(format_general(float, precision), expected);
        check(1234.5678, 3, "1.23e+03");
        check(1234.5678, 6, "1234.57");
        check(0.00001234, 2, "1.2e-05");
        check(100_000.0, 6, "100000");
        check(1_000_000.0, 6, "1e+06");
        check(0.5, 3, "0.5");
        check(100.0, 3, "100");
    }
}
