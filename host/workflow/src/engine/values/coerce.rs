//! Conversion of text to values, by Go's rules. Templates produce text; actions expect typed values.

use serde_json::{Number, Value};

/// Largest integer up to which an `f64` holds every integer exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Parses an integer: `42`, `+42`, `042`.
pub(crate) fn parse_integer(text: &str) -> Option<Value> {
    // Rust parses signs and leading zeros like Go, and rejects white space like Go.
    text.parse::<i64>().map(Value::from).ok().or_else(|| text.parse::<u64>().map(Value::from).ok())
}

/// Parses a number, including `.5`, `1e3`, `0x1p-2` and `1_000`. Rejects `inf` and `NaN`, which JSON lacks.
pub(crate) fn parse_number(text: &str) -> Option<Value> {
    if let Some(whole) = parse_integer(text) {
        return Some(whole);
    }
    let text = strip_underscores(text)?;
    let number = match parse_hex_float(&text) {
        Some(number) => number,
        None => text.parse().ok()?,
    };
    to_number(number)
}

/// Parses a boolean: `1 t T TRUE true True 0 f F FALSE false False`.
pub(crate) fn parse_boolean(text: &str) -> Option<Value> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(Value::Bool(true)),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// Converts a number to JSON; integral values have no decimal point, as in Go.
pub(crate) fn to_number(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}

/// Removes single underscores between digits; rejects others.
fn strip_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = match text.contains(['x', 'X']) {
        true => u8::is_ascii_hexdigit,
        false => u8::is_ascii_digit,
    };
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(is_digit);
    let fits = |(at, byte): (usize, &u8)| *byte != b'_' || (digit(at.checked_sub(1)) && digit(Some(at + 1)));
    bytes.iter().enumerate().all(fits).then(|| text.replace('_', ""))
}

/// Parses a hexadecimal float with its mandatory exponent: `0x1.8p-2`.
fn parse_hex_float(text: &str) -> Option<f64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let (digits, power) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut mantissa = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        mantissa = mantissa * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let power =
        power.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    Some(sign * mantissa * 2f64.powi(power))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_read_as_go_reads_them() {
        fn check(read: fn(&str) -> Option<Value>, cases: &[(&str, Option<Value>)]) {
            for (text, expected) in cases {
                assert_eq!(read(text), *expected, "{text:?}");
            }
        }
        let none = || None::<Value>;
        check(
            parse_integer,
            &[
                ("42", Some(json!(42))),
                ("+42", Some(json!(42))),
                ("-042", Some(json!(-42))),
                ("18446744073709551615", Some(json!(u64::MAX))),
                ("42.0", none()),
                ("1e3", none()),
                (" 42", none()),
                ("", none()),
                ("<no value>", none()),
            ],
        );
        check(
            parse_number,
            &[
                ("42", Some(json!(42))),
                (".5", Some(json!(0.5))),
                ("1e3", Some(json!(1000))),
                ("1.5e300", Some(json!(1.5e300))),
                ("0x1p-2", Some(json!(0.25))),
                ("-0x1.8p1", Some(json!(-3))),
                ("1_000", Some(json!(1000))),
                ("1__0", none()),
                ("1_e5", none()),
                ("0x1_ap0", Some(json!(26))),
                ("_1", none()),
                ("inf", none()),
                ("NaN", none()),
                ("1e999", none()),
                ("0x", none()),
                ("0xp1", none()),
                ("0x1p99999999999", none()),
                ("x", none()),
            ],
        );
        check(
            parse_boolean,
            &[("T", Some(json!(true))), ("0", Some(json!(false))), ("yes", none()), ("tRUE", none())],
        );
    }
}
