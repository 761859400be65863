//! `printf`, as Go has it.

use super::{
    print::{self, NIL},
    style::VerbStyle,
    verb,
};
use crate::template::{error::EvalError, limits, output::TextWriter, value::TemplateValue};

/// Writes values in a format.
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
    printer.extra(out)
}

struct Printer<'v, 'a> {
    values: &'v [TemplateValue<'a>],
    next: usize,
    /// Whether an index was used: then all values need not be.
    reordered: bool,
    /// Whether the last index was one.
    good: bool,
}

impl<'a> Printer<'_, 'a> {
    /// Writes what one verb asks for, and gives what follows it.
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
                    style.width = Some(bounded(width.unsigned_abs())?);
                }
                None => out.push("%!(BADWIDTH)")?,
            }
            indexed = false;
        } else {
            let (width, after) = digits(rest)?;
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
                        style.precision = Some(bounded(precision.unsigned_abs())?);
                    }
                    Some(_) | None => out.push("%!(BADPREC)")?,
                }
                indexed = false;
            } else {
                let (precision, after) = digits(rest)?;
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
                one(*value, verb, style, out)?;
            }
        }
        Ok(chars.as_str())
    }

    /// `[3]`: the value that is meant.
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

    /// `*`: a number among the values.
    fn number(&mut self) -> Result<Option<i128>, EvalError> {
        let value = self.values.get(self.next);
        self.next += usize::from(value.is_some());
        Ok(match value {
            Some(TemplateValue::Number(number)) => number.whole(),
            _ => None,
        })
    }

    /// Tells of values that no verb asked for.
    fn extra(&self, out: &mut TextWriter<'_>) -> Result<(), EvalError> {
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
                print::plain(*value, out)?;
            }
        }
        out.push(")")
    }
}

fn digits(text: &str) -> Result<(Option<usize>, &str), EvalError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 {
        return Ok((None, text));
    }
    // Too many digits are too large a number.
    let number = text[..end].parse::<u128>().unwrap_or(u128::MAX);
    Ok((Some(bounded(number)?), &text[end..]))
}

fn bounded(number: u128) -> Result<usize, EvalError> {
    match usize::try_from(number) {
        Ok(number) if number <= limits::WIDTH => Ok(number),
        _ => Err(EvalError::new(format!("a width or precision in `printf` is at most {}", limits::WIDTH))),
    }
}

/// Writes one value.
fn one(
    value: TemplateValue<'_>,
    verb: char,
    style: VerbStyle,
    out: &mut TextWriter<'_>,
) -> Result<(), EvalError> {
    match (verb, value) {
        ('T', value) => verb::padded(value.go_type(), style, out),
        ('v', value) if value.is_nil() => verb::padded(NIL, style, out),
        (verb, value) if value.is_nil() => {
            out.push("%!")?;
            out.push_char(verb)?;
            out.push("(<nil>)")
        }
        ('v', value) if style.sharp => verb::go_syntax(value, out, 0),
        (verb, value) => print::write(value, out, 0, &|value, out| verb::write(value, verb, style, out)),
    }
}
