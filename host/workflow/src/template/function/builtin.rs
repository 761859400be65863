//! Table of functions: Go's built-ins and ToolHive's three.

use std::cmp::Ordering;

use serde_json::Value;

use super::access;
use crate::template::{
    error::EvalError,
    format::{escape, print, printf},
    output::{RunBudget, TextWriter, build_text},
    value::{TemplateValue, compare},
};

macro_rules! functions {
    ($($name:literal $variant:ident,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum BuiltinFunction { $($variant,)* }

        impl BuiltinFunction {
            pub(crate) fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            pub(crate) fn names() -> impl Iterator<Item = &'static str> {
                [$($name,)*].into_iter()
            }
        }
    };
}

functions! {
    "and" And,
    "or" Or,
    "not" Not,
    "len" Len,
    "index" Index,
    "slice" Slice,
    "print" Print,
    "printf" Printf,
    "println" Println,
    "html" Html,
    "js" Js,
    "urlquery" UrlQuery,
    "call" Call,
    "eq" Eq,
    "ne" Ne,
    "lt" Lt,
    "le" Le,
    "gt" Gt,
    "ge" Ge,
    "json" Json,
    "quote" Quote,
    "fromJson" FromJson,
}

impl BuiltinFunction {
    /// Returns true for functions that print their arguments, where a missing value would show.
    pub(crate) fn prints_arguments(self) -> bool {
        matches!(self, Self::Print | Self::Printf | Self::Println | Self::Html | Self::Js | Self::UrlQuery)
    }

    /// Calls the function. The caller evaluates `and` and `or`, whose arguments are lazy.
    pub(crate) fn call<'a>(
        self,
        arguments: &[TemplateValue<'a>],
        budget: &'a RunBudget,
    ) -> Result<TemplateValue<'a>, EvalError> {
        let wanted = match self {
            Self::Not | Self::Len | Self::Json | Self::Quote | Self::FromJson => 1..=1,
            Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => 2..=2,
            Self::Eq => 2..=usize::MAX,
            Self::Slice => 1..=4,
            Self::And | Self::Or | Self::Index | Self::Printf | Self::Call => 1..=usize::MAX,
            Self::Print | Self::Println | Self::Html | Self::Js | Self::UrlQuery => 0..=usize::MAX,
        };
        if !wanted.contains(&arguments.len()) {
            let (least, most) = (*wanted.start(), *wanted.end());
            let number = match most {
                usize::MAX => format!("{least} or more"),
                most if most == least => least.to_string(),
                most => format!("{least} to {most}"),
            };
            let noun = if number == "1" { "argument" } else { "arguments" };
            return Err(EvalError::new(format!("it takes {number} {noun}, not {}", arguments.len())));
        }
        let first = arguments.first().copied().unwrap_or(TemplateValue::Missing);
        let compared = |wanted: fn(Ordering) -> bool| {
            budget.spend_comparison(first, arguments[1])?;
            Ok(TemplateValue::Bool(wanted(compare::order(first, arguments[1])?)))
        };
        match self {
            Self::And | Self::Or => Ok(first),
            Self::Not => Ok(TemplateValue::Bool(!first.is_true())),
            Self::Len => access::length(first),
            Self::Index => access::index(first, &arguments[1..]),
            Self::Slice => access::slice(first, &arguments[1..]),
            Self::Print => build_text(budget, |out| print::write_spaced(arguments, out)),
            Self::Println => build_text(budget, |out| {
                for (index, value) in arguments.iter().enumerate() {
                    out.push(if index > 0 { " " } else { "" })?;
                    print::write_plain(*value, out)?;
                }
                out.push("\n")
            }),
            Self::Printf => {
                let format = expect_text(first)?;
                budget.spend(format.len() / 64)?;
                build_text(budget, |out| printf::write(format, &arguments[1..], out))
            }
            Self::Html => escape_arguments(arguments, budget, escape::write_html),
            Self::Js => escape_arguments(arguments, budget, escape::write_js),
            Self::UrlQuery => escape_arguments(arguments, budget, escape::write_url_query),
            Self::Call => Err(EvalError::new(format!(
                "data contains no functions: {} cannot be called",
                first.kind_name()
            ))),
            Self::Eq => {
                for other in &arguments[1..] {
                    budget.spend_comparison(first, *other)?;
                    if compare::equals(first, *other)? {
                        return Ok(TemplateValue::Bool(true));
                    }
                }
                Ok(TemplateValue::Bool(false))
            }
            Self::Ne => {
                budget.spend_comparison(first, arguments[1])?;
                Ok(TemplateValue::Bool(!compare::equals(first, arguments[1])?))
            }
            Self::Lt => compared(Ordering::is_lt),
            Self::Le => compared(Ordering::is_le),
            Self::Gt => compared(Ordering::is_gt),
            Self::Ge => compared(Ordering::is_ge),
            Self::Json => build_text(budget, |out| print::write_json(first, out, 0)),
            Self::Quote => {
                let text = expect_text(first)?;
                build_text(budget, |out| escape::write_quoted(text, '"', false, out))
            }
            Self::FromJson => parse_json(expect_text(first)?, budget),
        }
    }
}

fn expect_text(value: TemplateValue<'_>) -> Result<&str, EvalError> {
    match value {
        TemplateValue::Text(text) => Ok(text),
        value => Err(EvalError::new(format!("a string is expected, not {}", value.kind_name()))),
    }
}

fn escape_arguments<'a>(
    arguments: &[TemplateValue<'a>],
    budget: &'a RunBudget,
    write: fn(&str, &mut TextWriter<'_>) -> Result<(), EvalError>,
) -> Result<TemplateValue<'a>, EvalError> {
    if let [TemplateValue::Text(text)] = arguments {
        return build_text(budget, |out| write(text, out));
    }
    let shown: Vec<TemplateValue<'a>> = arguments
        .iter()
        .map(|value| if value.is_nil() { TemplateValue::Text(print::NO_VALUE) } else { *value })
        .collect();
    match build_text(budget, |out| print::write_spaced(&shown, out))? {
        TemplateValue::Text(text) => build_text(budget, |out| write(text, out)),
        other => Ok(other),
    }
}

fn parse_json<'a>(text: &str, budget: &'a RunBudget) -> Result<TemplateValue<'a>, EvalError> {
    // A short JSON text can hold many values, each of which takes more memory than its text.
    let values = max_values(text);
    budget.hold(text.len().saturating_add(values.saturating_mul(size_of::<Value>())))?;
    budget.spend(values)?;
    match serde_json::from_str(text) {
        Ok(value) if print::is_too_deep(&value) => Err(print::depth_error()),
        Ok(value) => Ok(budget.keep_value(value)),
        // serde's JSON errors contain positions and no data.
        Err(error) => Err(EvalError::new(format!("failed to unmarshal JSON: {error}"))),
    }
}

/// Returns an upper bound for the number of values in a JSON text; an object counts as several.
fn max_values(text: &str) -> usize {
    let weights = text.bytes().map(|byte| match byte {
        b',' | b'[' => 1,
        b'{' => 4,
        _ => 0,
    });
    weights.sum::<usize>() + 1
}
