//! Verbs of `printf` for values that are neither lists nor maps.

use super::{
    escape,
    print::{self, NIL},
    style::VerbStyle,
};
use crate::template::{
    error::EvalError,
    limits,
    output::TextWriter,
    value::{
        ExactNumber, TemplateValue,
        number::{self},
    },
};

/// Writes one value. A mismatched verb is reported inline, as in Go.
pub(crate) fn write(
    value: TemplateValue<'_>,
    verb: char,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    match (value, verb) {
        (TemplateValue::Bool(bool), 't' | 'v') => {
            write_padded(if bool { "true" } else { "false" }, style, out)
        }
        (TemplateValue::Text(text), 's' | 'v') => write_padded(truncate(text, style), style, out),
        (TemplateValue::Text(text), 'q') => {
            let mut quoted = out.nested();
            let raw = style.sharp && !text.contains(['`', '\n', '\r', '\u{7f}']);
            if raw {
                quoted.push("`")?;
                quoted.push(truncate(text, style))?;
                quoted.push("`")?;
            } else {
                escape::write_quoted(truncate(text, style), '"', style.plus, &mut quoted)?;
            }
            write_padded(&quoted.written, style, out)
        }
        (TemplateValue::Text(text), 'x' | 'X') => {
            let mut made = out.nested();
            let bytes = &text.as_bytes()[..style.precision.unwrap_or(text.len()).min(text.len())];
            if style.sharp && !bytes.is_empty() {
                made.push(if verb == 'x' { "0x" } else { "0X" })?;
            }
            let digit = |value: u8| {
                let digit = char::from_digit(value.into(), 16).unwrap_or_default();
                if verb == 'x' { digit } else { digit.to_ascii_uppercase() }
            };
            for (index, byte) in bytes.iter().enumerate() {
                if style.space && index > 0 {
                    made.push(" ")?;
                }
                let digits: String = [digit(byte >> 4), digit(byte & 15)].iter().collect();
                made.push(&digits)?;
            }
            write_padded(&made.written, style, out)
        }
        (TemplateValue::Number(number), verb) => self::write_number(number, verb, style, out),
        // Within lists and maps, null ignores verb and width.
        (TemplateValue::Missing | TemplateValue::Null, _) => out.push(NIL),
        (value, verb) => write_mismatch(value, verb, style, out),
    }
}

/// Writes a value with a mismatched verb: its type, and its text in the same style.
fn write_mismatch(
    value: TemplateValue<'_>,
    verb: char,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    out.push("%!")?;
    out.push_char(verb)?;
    out.push("(")?;
    out.push(value.go_type())?;
    out.push("=")?;
    write(value, 'v', style, out)?;
    out.push(")")
}

fn write_number(
    value: ExactNumber,
    verb: char,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    out.budget.spend(value.cost())?;
    match (verb, value.as_integer()) {
        ('v', _) => match value {
            ExactNumber::Int(int) => write_digits(int, int.unsigned_abs().to_string(), "", style, out),
            ExactNumber::Float(float) => {
                let precise = style.precision.map(|precision| number::format_general(float, precision));
                write_signed(precise.unwrap_or_else(|| value.to_text()), style, out)
            }
        },
        ('d', Some(int)) => write_digits(int, int.unsigned_abs().to_string(), "", style, out),
        ('b', Some(int)) => write_digits(int, format!("{:b}", int.unsigned_abs()), "0b", style, out),
        ('o', Some(int)) => write_digits(int, format!("{:o}", int.unsigned_abs()), "0", style, out),
        ('O', Some(int)) => write_digits(
            int,
            format!("{:o}", int.unsigned_abs()),
            "0o",
            VerbStyle { sharp: true, ..style },
            out,
        ),
        ('x', Some(int)) => write_digits(int, format!("{:x}", int.unsigned_abs()), "0x", style, out),
        ('X', Some(int)) => write_digits(int, format!("{:X}", int.unsigned_abs()), "0X", style, out),
        ('c', Some(int)) => write_padded(to_char(int).encode_utf8(&mut [0; 4]), style, out),
        ('q', Some(int)) => {
            let mut quoted = out.nested();
            let character = to_char(int);
            escape::write_quoted(character.encode_utf8(&mut [0; 4]), '\'', style.plus, &mut quoted)?;
            write_padded(&quoted.written, style, out)
        }
        ('U', Some(int)) => write_padded(&format!("U+{:04X}", int.unsigned_abs()), style, out),
        ('e', _) => {
            write_signed(number::format_exponential(value.to_f64(), style.precision.unwrap_or(6)), style, out)
        }
        ('E', _) => {
            let text = number::format_exponential(value.to_f64(), style.precision.unwrap_or(6));
            write_signed(text.to_uppercase(), style, out)
        }
        ('f' | 'F', _) => {
            write_signed(format!("{:.*}", style.precision.unwrap_or(6), value.to_f64()), style, out)
        }
        ('g' | 'G', _) => {
            let float = value.to_f64();
            let text = match style.precision {
                Some(precision) => number::format_general(float, precision),
                None => value.to_text(),
            };
            write_signed(if verb == 'G' { text.to_uppercase() } else { text }, style, out)
        }
        (verb, _) => write_mismatch(TemplateValue::Number(value), verb, style, out),
    }
}

fn to_char(code: i128) -> char {
    u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Writes the digits of an integer with sign and base prefix.
fn write_digits(
    int: i128,
    mut text: String,
    base: &str,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    let sign = sign(int < 0, style);
    if let Some(precision) = style.precision {
        if precision == 0 && int == 0 {
            return write_padded("", VerbStyle { zero: false, precision: None, ..style }, out);
        }
        if text.len() < precision {
            text.insert_str(0, &"0".repeat(precision - text.len()));
        }
    } else if style.zero && !style.minus {
        let wanted = style.width.unwrap_or(0).saturating_sub(sign.len());
        if text.len() < wanted {
            text.insert_str(0, &"0".repeat(wanted - text.len()));
        }
    }
    let base = if style.sharp && !(base == "0" && text.starts_with('0')) { base } else { "" };
    write_padded(&format!("{sign}{base}{text}"), VerbStyle { zero: false, ..style }, out)
}

/// Writes the text of a float with its sign.
fn write_signed(text: String, style: VerbStyle, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    // Each digit of a float costs about one step.
    out.budget.spend(text.len())?;
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.trim_start_matches('+')),
    };
    let sign = sign(negative, style);
    let wanted = style.width.unwrap_or(0).saturating_sub(sign.len());
    let zeros = if style.zero && !style.minus { wanted.saturating_sub(text.len()) } else { 0 };
    write_padded(&format!("{sign}{}{text}", "0".repeat(zeros)), VerbStyle { zero: false, ..style }, out)
}

fn sign(negative: bool, style: VerbStyle) -> &'static str {
    match (negative, style.plus, style.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

/// Truncates a text to the precision.
fn truncate(text: &str, style: VerbStyle) -> &str {
    match style.precision.and_then(|most| text.char_indices().nth(most)) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Writes a text padded to the width.
pub(crate) fn write_padded(text: &str, style: VerbStyle, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    let Some(width) = style.width else { return out.push(text) };
    let fill = width.saturating_sub(text.chars().take(width).count());
    let fill = if style.zero && !style.minus { "0".repeat(fill) } else { " ".repeat(fill) };
    if style.minus {
        out.push(text)?;
        return out.push(&fill);
    }
    out.push(&fill)?;
    out.push(text)
}

/// Writes a value in Go syntax: `%#v`.
pub(crate) fn write_go_syntax(
    value: TemplateValue<'_>,
    out: &mut TextWriter<'_>,
    depth: usize,
) -> Result<(), EvalError> {
    if depth > limits::DEPTH {
        return Err(print::depth_error());
    }
    match value {
        TemplateValue::Missing | TemplateValue::Null => out.push("interface {}(nil)"),
        TemplateValue::Text(text) => escape::write_quoted(text, '"', false, out),
        TemplateValue::List(list) => {
            out.push("[]interface {}{")?;
            for (index, item) in list.iter().enumerate() {
                out.push(if index > 0 { ", " } else { "" })?;
                write_go_syntax(TemplateValue::from(item), out, depth + 1)?;
            }
            out.push("}")
        }
        TemplateValue::Map(map) => {
            out.push("map[string]interface {}{")?;
            out.budget.spend(4 * map.len())?;
            for (index, (name, item)) in map.sorted().into_iter().enumerate() {
                out.push(if index > 0 { ", " } else { "" })?;
                escape::write_quoted(name, '"', false, out)?;
                out.push(":")?;
                write_go_syntax(TemplateValue::from(item), out, depth + 1)?;
            }
            out.push("}")
        }
        value => print::write_plain(value, out),
    }
}
