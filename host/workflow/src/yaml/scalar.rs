//! Values of plain scalars in YAML 1.2's core schema.

use serde_json::{Number, Value as Json};

use super::node::YamlValue;

/// Parses null, a boolean or a number; anything else is a text.
pub(super) fn parse_plain(text: &str) -> YamlValue {
    let json = match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => Json::Bool(true),
        "false" | "False" | "FALSE" => Json::Bool(false),
        _ => match parse_number(text) {
            Some(Ok(number)) => Json::Number(number),
            Some(Err(NotJson)) => return YamlValue::Unreal(text.to_owned()),
            None => return YamlValue::Text(text.to_owned()),
        },
    };
    YamlValue::Plain(json, text.to_owned())
}

/// Number that JSON cannot represent.
struct NotJson;

fn parse_number(text: &str) -> Option<Result<Number, NotJson>> {
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (&text[..1], rest),
        None => ("", text),
    };
    match digits {
        ".inf" | ".Inf" | ".INF" => return Some(Err(NotJson)),
        ".nan" | ".NaN" | ".NAN" if sign.is_empty() => return Some(Err(NotJson)),
        _ => {}
    }
    if sign.is_empty() {
        // A hexadecimal or octal number beyond 64 bits is a text.
        let based = [("0x", 16), ("0o", 8)];
        let based = based.iter().find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, *radix)));
        if let Some((digits, radix)) = based {
            let whole = digits.chars().all(|c| c.is_digit(radix)) && !digits.is_empty();
            return whole.then(|| u64::from_str_radix(digits, radix).ok()).flatten().map(|n| Ok(n.into()));
        }
    }
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let signed = text.strip_prefix('+').unwrap_or(text);
        let whole =
            signed.parse::<i64>().map(Number::from).or_else(|_| signed.parse::<u64>().map(Number::from));
        return Some(whole.or_else(|_| parse_float(text)));
    }
    is_float(digits).then(|| parse_float(text))
}

/// Parses a float; rejects floats beyond JSON's range.
fn parse_float(text: &str) -> Result<Number, NotJson> {
    text.parse().ok().and_then(Number::from_f64).ok_or(NotJson)
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    (!whole.is_empty() || !fraction.is_empty()) && digits(whole) && digits(fraction) && exponent
}
