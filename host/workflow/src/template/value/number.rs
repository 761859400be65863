//! Numbers: JSON's, held exactly, and as Go prints them.

use std::cmp::Ordering;

use serde_json::Number;

/// A whole number, or one with a fraction or an exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ExactNumber {
    /// Wide enough for `i64` and `u64`.
    Int(i128),
    Float(f64),
}

impl ExactNumber {
    /// The same number, exactly.
    pub(crate) fn of(number: &Number) -> Self {
        if let Some(int) = number.as_i64() {
            return Self::Int(int.into());
        }
        match number.as_u64() {
            Some(int) => Self::Int(int.into()),
            None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// As JSON; `None` for what JSON cannot hold.
    pub(crate) fn json(self) -> Option<Number> {
        match self {
            Self::Int(int) => match i64::try_from(int) {
                Ok(int) => Some(int.into()),
                Err(_) => u64::try_from(int).ok().map(Number::from),
            },
            Self::Float(float) => Number::from_f64(float),
        }
    }

    /// The whole number that it is, if it is one.
    pub(crate) fn whole(self) -> Option<i128> {
        // Beyond 2^100 a float is no count, index or code of anything.
        const MOST: f64 = (1_u128 << 100) as f64;
        match self {
            Self::Int(int) => Some(int),
            #[allow(clippy::cast_possible_truncation, reason = "it is whole and not too large")]
            Self::Float(float) if float.fract() == 0.0 && float.abs() <= MOST => Some(float as i128),
            Self::Float(_) => None,
        }
    }

    /// Steps that it takes to print it.
    pub(crate) fn cost(self) -> usize {
        match self {
            Self::Int(_) => 0,
            Self::Float(_) => 4,
        }
    }

    /// The nearest float.
    pub(crate) fn float(self) -> f64 {
        match self {
            #[allow(clippy::cast_precision_loss, reason = "the nearest is what is asked for")]
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// By value, whatever the kinds: a template that was written for ToolHive compares with `10.0` what here may be 10.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self.whole(), other.whole()) {
            (Some(one), Some(other)) => Some(one.cmp(&other)),
            _ => self.float().partial_cmp(&other.float()),
        }
    }

    /// As `{{.x}}` prints it. Unlike Go, which holds all of JSON's numbers as floats, a whole number is printed whole.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Int(int) => int.to_string(),
            Self::Float(float) if float.fract() == 0.0 && float.abs() < 1e21 => plain(float),
            Self::Float(float) => shortest(float),
        }
    }

    /// As Go writes it into JSON.
    pub(crate) fn json_text(self) -> String {
        match self {
            Self::Int(int) => int.to_string(),
            Self::Float(float) if float == 0.0 || (1e-6..1e21).contains(&float.abs()) => plain(float),
            Self::Float(float) => match format!("{float:e}").split_once('e') {
                Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
                _ => format!("{float:e}"),
            },
        }
    }
}

fn plain(float: f64) -> String {
    // Go tells -0 from 0, and so does Rust.
    format!("{float}")
}

/// The fewest digits that tell the number, with an exponent where it is below -4, or 6 and more.
fn shortest(float: f64) -> String {
    let text = format!("{float:e}");
    match text.split_once('e').and_then(|(digits, power)| Some((digits, power.parse::<i32>().ok()?))) {
        Some((digits, power)) if !(-4..6).contains(&power) => with_power(digits, power),
        Some(_) => plain(float),
        None => not_finite(float),
    }
}

/// `%e`: one digit before the point.
pub(crate) fn exponential(float: f64, precision: usize) -> String {
    let text = format!("{float:.precision$e}");
    match text.split_once('e').and_then(|(digits, power)| Some((digits, power.parse::<i32>().ok()?))) {
        Some((digits, power)) => with_power(digits, power),
        None => not_finite(float),
    }
}

/// `%g` with a precision: so many digits in all, without zeros at the end.
pub(crate) fn general(float: f64, precision: usize) -> String {
    let digits = precision.max(1);
    let text = format!("{float:.*e}", digits - 1);
    let Some((head, power)) = text.split_once('e').and_then(|(d, p)| Some((d, p.parse::<i32>().ok()?)))
    else {
        return not_finite(float);
    };
    let head = trimmed(head);
    let significant = head.bytes().filter(u8::is_ascii_digit).count();
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let fits = digits > significant && count(significant) > power;
    let most = if fits { count(significant) } else { count(digits) };
    if power < -4 || power >= most {
        return with_power(head, power);
    }
    let decimals = usize::try_from(count(digits) - 1 - power).unwrap_or(0);
    trimmed(&format!("{float:.decimals$}")).to_owned()
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

fn with_power(digits: &str, power: i32) -> String {
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}

fn not_finite(float: f64) -> String {
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
            assert_eq!((num.text().as_str(), num.json_text().as_str()), (text, json), "{num:?}");
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
        let check = |float, precision, expected: &str| assert_eq!(general(float, precision), expected);
        check(1234.5678, 3, "1.23e+03");
        check(1234.5678, 6, "1234.57");
        check(0.00001234, 2, "1.2e-05");
        check(100_000.0, 6, "100000");
        check(1_000_000.0, 6, "1e+06");
        check(0.5, 3, "0.5");
        check(100.0, 3, "100");
    }
}
