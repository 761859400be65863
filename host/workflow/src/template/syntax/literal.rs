//! Literals in Go's syntax: numbers, strings and characters.

use crate::template::value::ExactNumber;

/// Parses a number: `42`, `1_000`, `0x1f`, `0b1`, `0o17`, `017`, `1.5`, `.5`, `1e3`, `0x1p-2`.
pub(crate) fn parse_number(text: &str) -> Option<ExactNumber> {
    let (negative, body) = match text.strip_prefix(['+', '-']) {
        Some(body) => (text.starts_with('-'), body),
        None => (false, text),
    };
    let body = strip_underscores(body)?;
    let lower = body.to_ascii_lowercase();
    let num = if let Some(hex) = lower.strip_prefix("0x") {
        if hex.contains(['p', '.']) { ExactNumber::Float(parse_hex_float(hex)?) } else { parse_int(hex, 16)? }
    } else if let Some(digits) = lower.strip_prefix("0b") {
        parse_int(digits, 2)?
    } else if let Some(digits) = lower.strip_prefix("0o") {
        parse_int(digits, 8)?
    } else if lower.contains(['.', 'e']) {
        // Rust also parses words such as `infinity`; their letters exclude them.
        let plain = lower.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-'));
        let float = if plain { lower.parse::<f64>().ok()? } else { return None };
        ExactNumber::Float(if float.is_finite() { float } else { return None })
    } else if lower.len() > 1 && lower.starts_with('0') {
        parse_int(&lower[1..], 8)?
    } else {
        parse_int(&lower, 10)?
    };
    let signed = match num {
        ExactNumber::Int(value) if negative => ExactNumber::Int(-value),
        ExactNumber::Float(value) if negative => ExactNumber::Float(-value),
        num => num,
    };
    match signed {
        ExactNumber::Int(value) if i64::try_from(value).is_err() && u64::try_from(value).is_err() => None,
        num => Some(num),
    }
}

fn parse_int(digits: &str, radix: u32) -> Option<ExactNumber> {
    let digits = if digits.starts_with(['+', '-']) { return None } else { digits };
    i128::from_str_radix(digits, radix).ok().map(ExactNumber::Int)
}

/// Removes underscores, which must separate digits or follow the base.
fn strip_underscores(text: &str) -> Option<String> {
    let is_misplaced = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    (!is_misplaced).then(|| text.replace('_', ""))
}

fn parse_hex_float(text: &str) -> Option<f64> {
    let (digits, power) = text.split_once('p')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let mantissa = u64::from_str_radix(&all, 16).ok()?;
    let power = power.parse::<i16>().ok()?;
    let shift = i32::from(power) - 4 * i32::try_from(fraction.len()).ok()?;
    #[allow(clippy::cast_precision_loss, reason = "a float has no more digits")]
    let float = mantissa as f64 * 2_f64.powi(shift);
    float.is_finite().then_some(float)
}

/// Parses a string with its double quotes or backquotes.
pub(crate) fn parse_string(text: &str) -> Option<String> {
    if let Some(raw) = text.strip_prefix('`') {
        return Some(raw.strip_suffix('`')?.replace('\r', ""));
    }
    let body = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body;
    while !rest.is_empty() {
        let (piece, next) = next_piece(rest, '"')?;
        match piece {
            Piece::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Piece::Byte(byte) => bytes.push(byte),
        }
        rest = next;
    }
    String::from_utf8(bytes).ok()
}

/// Parses a character with its single quotes.
pub(crate) fn parse_character(text: &str) -> Option<ExactNumber> {
    let body = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let (piece, rest) = next_piece(body, '\'')?;
    let code = match piece {
        Piece::Char(c) => u32::from(c),
        Piece::Byte(byte) => byte.into(),
    };
    rest.is_empty().then_some(ExactNumber::Int(code.into()))
}

enum Piece {
    Char(char),
    Byte(u8),
}

fn next_piece(text: &str, quote: char) -> Option<(Piece, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first != '\\' {
        return (first != '\n' && first != quote).then_some((Piece::Char(first), chars.as_str()));
    }
    let escaped = chars.next()?;
    let rest = chars.as_str();
    let coded = |rest: &str, digits: usize, radix: u32| {
        let part = rest.get(..digits)?;
        let plain = part.bytes().all(|b| b.is_ascii_hexdigit());
        if plain { u32::from_str_radix(part, radix).ok() } else { None }
    };
    let simple = match escaped {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        c if c == quote => c,
        'x' => return Some((Piece::Byte(u8::try_from(coded(rest, 2, 16)?).ok()?), &rest[2..])),
        'u' => return Some((Piece::Char(char::from_u32(coded(rest, 4, 16)?)?), &rest[4..])),
        'U' => return Some((Piece::Char(char::from_u32(coded(rest, 8, 16)?)?), &rest[8..])),
        '0'..='7' => {
            let text = &text[1..];
            return Some((Piece::Byte(u8::try_from(coded(text, 3, 8)?).ok()?), &text[3..]));
        }
        _ => return None,
    };
    Some((Piece::Char(simple), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_gos() {
        let check =
            |text: &str, expected: Option<ExactNumber>| assert_eq!(parse_number(text), expected, "{text}");
        for (text, int) in [
            ("42", 42),
            ("-5", -5),
            ("+5", 5),
            ("1_000", 1000),
            ("0x1F", 31),
            ("0b11", 3),
            ("0o17", 15),
            ("017", 15),
        ] {
            check(text, Some(ExactNumber::Int(int)));
        }
        for (text, float) in [("1.50", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("0x1p-2", 0.25)] {
            check(text, Some(ExactNumber::Float(float)));
        }
        check("18446744073709551615", Some(ExactNumber::Int(u64::MAX.into())));
        for text in [
            "18446744073709551616",
            "1__0",
            "1_",
            "0x",
            "1a",
            "09",
            "--1",
            "",
            "-",
            "1e",
            "1e999",
            "1i",
            "inf",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn strings_are_gos() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_string(text).as_deref(), expected, "{text}")
        };
        check(r#""a\n\t\"\\""#, Some("a\n\t\"\\"));
        check(r#""\u00e9\xc3\xa9\351""#, None);
        check(r#""\u00e9\xc3\xa9\303\251""#, Some("ééé"));
        check(r#""\U0001F600""#, Some("😀"));
        check(r"`a\n`", Some(r"a\n"));
        for text in [r#""\q""#, r#""\x4""#, r#""\xé""#, r#""\'""#, r#""\777""#] {
            check(text, None);
        }
        assert_eq!(parse_character("'a'"), Some(ExactNumber::Int(97)));
        assert_eq!(parse_character(r"'\n'"), Some(ExactNumber::Int(10)));
        assert_eq!(parse_character("'ab'"), None);
        assert_eq!(parse_character("''"), None);
    }
}
