//! The verbs of `printf`: how each writes what is no list and no map.

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

/// Writes one value; one that the verb is not for is named, as Go does.
pub(crate) fn write(
    value: TemplateValue<'_>,
    verb: char,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    match (value, verb) {
        (TemplateValue::Bool(bool), 't' | 'v') => padded(if bool { "true" } else { "false" }, style, out),
        (TemplateValue::Text(text), 's' | 'v') => padded(cut(text, style), style, out),
        (TemplateValue::Text(text), 'q') => {
            let mut quoted = out.aside();
            let raw = style.sharp && !text.contains(['`', '\n', '\r', '\u{7f}']);
            if raw {
                quoted.push("`")?;
                quoted.push(cut(text, style))?;
                quoted.push("`")?;
            } else {
                escape::quoted(cut(text, style), '"', style.plus, &mut quoted)?;
            }
            padded(&quoted.written, style, out)
        }
        (TemplateValue::Text(text), 'x' | 'X') => {
            let mut made = out.aside();
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
            padded(&made.written, style, out)
        }
        (TemplateValue::Number(number), verb) => self::number(number, verb, style, out),
        // Within lists and maps, every verb writes nothing as it is, however wide it is to be.
        (TemplateValue::Missing | TemplateValue::Null, _) => out.push(NIL),
        (value, verb) => wrong(value, verb, style, out),
    }
}

/// A value that the verb is not for: with its type, as `%v` writes it in the same style.
fn wrong(
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

fn number(
    value: ExactNumber,
    verb: char,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    out.budget.spend(value.cost())?;
    match (verb, value.whole()) {
        ('v', _) => match value {
            ExactNumber::Int(int) => digits(int, int.unsigned_abs().to_string(), "", style, out),
            ExactNumber::Float(float) => {
                let precise = style.precision.map(|precision| number::general(float, precision));
                signed(precise.unwrap_or_else(|| value.text()), style, out)
            }
        },
        ('d', Some(int)) => digits(int, int.unsigned_abs().to_string(), "", style, out),
        ('b', Some(int)) => digits(int, format!("{:b}", int.unsigned_abs()), "0b", style, out),
        ('o', Some(int)) => digits(int, format!("{:o}", int.unsigned_abs()), "0", style, out),
        ('O', Some(int)) => {
            digits(int, format!("{:o}", int.unsigned_abs()), "0o", VerbStyle { sharp: true, ..style }, out)
        }
        ('x', Some(int)) => digits(int, format!("{:x}", int.unsigned_abs()), "0x", style, out),
        ('X', Some(int)) => digits(int, format!("{:X}", int.unsigned_abs()), "0X", style, out),
        ('c', Some(int)) => padded(character(int).encode_utf8(&mut [0; 4]), style, out),
        ('q', Some(int)) => {
            let mut quoted = out.aside();
            let character = character(int);
            escape::quoted(character.encode_utf8(&mut [0; 4]), '\'', style.plus, &mut quoted)?;
            padded(&quoted.written, style, out)
        }
        ('U', Some(int)) => padded(&format!("U+{:04X}", int.unsigned_abs()), style, out),
        ('e', _) => signed(number::exponential(value.float(), style.precision.unwrap_or(6)), style, out),
        ('E', _) => {
            let text = number::exponential(value.float(), style.precision.unwrap_or(6));
            signed(text.to_uppercase(), style, out)
        }
        ('f' | 'F', _) => signed(format!("{:.*}", style.precision.unwrap_or(6), value.float()), style, out),
        ('g' | 'G', _) => {
            let float = value.float();
            let text = match style.precision {
                Some(precision) => number::general(float, precision),
                None => value.text(),
            };
            signed(if verb == 'G' { text.to_uppercase() } else { text }, style, out)
        }
        (verb, _) => wrong(TemplateValue::Number(value), verb, style, out),
    }
}

fn character(code: i128) -> char {
    u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A whole number's digits, with its sign and base.
fn digits(
    int: i128,
    mut text: String,
    base: &str,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    let sign = sign(int < 0, style);
    if let Some(precision) = style.precision {
        if precision == 0 && int == 0 {
            return padded("", VerbStyle { zero: false, precision: None, ..style }, out);
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
    padded(&format!("{sign}{base}{text}"), VerbStyle { zero: false, ..style }, out)
}

/// A float's text, with its sign.
fn signed(text: String, style: VerbStyle, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
    // Each digit of a float takes about as long as a step.
    out.budget.spend(text.len())?;
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.trim_start_matches('+')),
    };
    let sign = sign(negative, style);
    let wanted = style.width.unwrap_or(0).saturating_sub(sign.len());
    let zeros = if style.zero && !style.minus { wanted.saturating_sub(text.len()) } else { 0 };
    padded(&format!("{sign}{}{text}", "0".repeat(zeros)), VerbStyle { zero: false, ..style }, out)
}

fn sign(negative: bool, style: VerbStyle) -> &'static str {
    match (negative, style.plus, style.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

/// As many characters as the precision says.
fn cut(text: &str, style: VerbStyle) -> &str {
    match style.precision.and_then(|most| text.char_indices().nth(most)) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// A text in a field of some width.
pub(crate) fn padded(text: &str, style: VerbStyle, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
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

/// `%#v`: as it would stand in a program in Go.
pub(crate) fn go_syntax(
    value: TemplateValue<'_>,
    out: &mut TextWriter<'_>,
    depth: usize,
) -> Result<(), EvalError> {
    if depth > limits::DEPTH {
        return Err(print::too_deep());
    }
    match value {
        TemplateValue::Missing | TemplateValue::Null => out.push("interface {}(nil)"),
        TemplateValue::Text(text) => escape::quoted(text, '"', false, out),
        TemplateValue::List(list) => {
            out.push("[]interface {}{")?;
            for (index, item) in list.iter().enumerate() {
                out.push(if index > 0 { ", " } else { "" })?;
                go_syntax(TemplateValue::from(item), out, depth + 1)?;
            }
            out.push("}")
        }
        TemplateValue::Map(map) => {
            out.push("map[string]interface {}{")?;
            out.budget.spend(4 * map.len())?;
            for (index, (name, item)) in map.sorted().into_iter().enumerate() {
                out.push(if index > 0 { ", " } else { "" })?;
                escape::quoted(name, '"', false, out)?;
                out.push(":")?;
                go_syntax(TemplateValue::from(item), out, depth + 1)?;
            }
            out.push("}")
        }
        value => print::plain(value, out),
    }
}
