//! Format strings of `printf`.

use super::{
    print::{self, NIL},
    style::VerbStyle,
    verb,
};
use crate::template::{error::EvalError, limits, output::TextWriter, value::TemplateValue};

/// Writes values by a format string.
pub(crate) fn write(
    format: &str,
    values: &[TemplateValue<'_>],
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    let mut printer = Printer { values, next: 0, reordered: false, good: true };
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push(&rest[..at])?;
        rest = printer.verb(&rest[at + 1..], out)?;
    }
    out.push(rest)?;
    printer.write_extra(out)
}

struct Printer<'v, 'a> {
    values: &'v [TemplateValue<'a>],
    next: usize,
    /// An explicit index was used, so unused values are not reported.
    reordered: bool,
    /// The last explicit index was valid.
    good: bool,
}

impl<'a> Printer<'_, 'a> {
    /// Writes one verb, and returns the rest of the format.
    fn verb<'f>(&mut self, format: &'f str, out: &mut TextWriter<'_>) -> Result<&'f str, EvalError> {
        let mut style = VerbStyle::default();
        let mut rest = format;
        while let Some(flag) = rest.bytes().next() {
            match flag {
                b'-' => style.minus = true,
                b'+' => style.plus = true,
                b'#' => style.sharp = true,
                b' ' => style.space = true,
                b'0' => style.zero = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        self.good = true;
        let mut indexed;
        (rest, indexed) = self.index(rest);
        if let Some(after) = rest.strip_prefix('*') {
            rest = after;
            match self.number()? {
                Some(width) => {
                    style.minus |= width < 0;
                    style.width = Some(check_width(width.unsigned_abs())?);
                }
                None => out.push("%!(BADWIDTH)")?,
            }
            indexed = false;
        } else {
            let (width, after) = parse_digits(rest)?;
            // As in `%[3]2d`.
            self.good &= !(indexed && width.is_some());
            (style.width, rest) = (width, after);
        }
        if let Some(after) = rest.strip_prefix('.') {
            // As in `%[3].2d`.
            self.good &= !indexed;
            (rest, indexed) = self.index(after);
            if let Some(after) = rest.strip_prefix('*') {
                rest = after;
                match self.number()? {
                    Some(precision) if precision >= 0 => {
                        style.precision = Some(check_width(precision.unsigned_abs())?);
                    }
                    Some(_) | None => out.push("%!(BADPREC)")?,
                }
                indexed = false;
            } else {
                let (precision, after) = parse_digits(rest)?;
                style.precision = Some(precision.unwrap_or(0));
                rest = after;
            }
        }
        if !indexed {
            (rest, _) = self.index(rest);
        }
        let mut chars = rest.chars();
        let Some(verb) = chars.next() else {
            out.push("%!(NOVERB)")?;
            return Ok("");
        };
        match (verb, self.values.get(self.next)) {
            ('%', _) => out.push("%")?,
            _ if !self.good => {
                out.push("%!")?;
                out.push_char(verb)?;
                out.push("(BADINDEX)")?;
            }
            (_, None) => {
                out.push("%!")?;
                out.push_char(verb)?;
                out.push("(MISSING)")?;
            }
            (_, Some(value)) => {
                self.next += 1;
                write_value(*value, verb, style, out)?;
            }
        }
        Ok(chars.as_str())
    }

    /// Parses an explicit index: `[3]`.
    fn index<'f>(&mut self, format: &'f str) -> (&'f str, bool) {
        let Some(inner) = format.strip_prefix('[') else { return (format, false) };
        self.reordered = true;
        let Some((number, after)) = inner.split_once(']') else {
            self.good = false;
            return (inner, false);
        };
        match number.parse::<usize>() {
            Ok(number) if (1..=self.values.len()).contains(&number) => self.next = number - 1,
            _ => self.good = false,
        }
        (after, self.good)
    }

    /// Takes a width or precision from the values: `*`.
    fn number(&mut self) -> Result<Option<i128>, EvalError> {
        let value = self.values.get(self.next);
        self.next += usize::from(value.is_some());
        Ok(match value {
            Some(TemplateValue::Number(number)) => number.as_integer(),
            _ => None,
        })
    }

    /// Reports values that no verb used.
    fn write_extra(&self, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
        if self.reordered || self.next >= self.values.len() {
            return Ok(());
        }
        out.push("%!(EXTRA ")?;
        for (index, value) in self.values[self.next..].iter().enumerate() {
            out.push(if index > 0 { ", " } else { "" })?;
            if value.is_nil() {
                out.push(NIL)?;
            } else {
                out.push(value.go_type())?;
                out.push("=")?;
                print::write_plain(*value, out)?;
            }
        }
        out.push(")")
    }
}

fn parse_digits(text: &str) -> Result<(Option<usize>, &str), EvalError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 {
        return Ok((None, text));
    }
    // A number with too many digits is too large.
    let number = text[..end].parse::<u128>().unwrap_or(u128::MAX);
    Ok((Some(check_width(number)?), &text[end..]))
}

fn check_width(number: u128) -> Result<usize, EvalError> {
    match usize::try_from(number) {
        Ok(number) if number <= limits::WIDTH => Ok(number),
        _ => Err(EvalError::new(format!("a width or precision in `printf` is at most {}", limits::WIDTH))),
    }
}

/// Writes one value.
fn write_value(
    value: TemplateValue<'_>,
    verb: char,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    match (verb, value) {
        ('T', value) => verb::write_padded(value.go_type(), style, out),
        ('v', value) if value.is_nil() => verb::write_padded(NIL, style, out),
        (verb, value) if value.is_nil() => {
            out.push("%!")?;
            out.push_char(verb)?;
            out.push("(<nil>)")
        }
        ('v', value) if style.sharp => verb::write_go_syntax(value, out, 0),
        (verb, value) => print::write(value, out, 0, &|value, out| verb::write(value, verb, style, out)),
    }
}
