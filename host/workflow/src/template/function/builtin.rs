//! The functions: Go's built-ins, and ToolHive's three.

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
    /// Whether it writes its arguments out, so that one that is missing would be seen.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Print | Self::Printf | Self::Println | Self::Html | Self::Js | Self::UrlQuery)
    }

    /// Calls it; `and` and `or` are the caller's, since they do not take all their arguments.
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
            budget.compared(first, arguments[1])?;
            Ok(TemplateValue::Bool(wanted(compare::order(first, arguments[1])?)))
        };
        match self {
            Self::And | Self::Or => Ok(first),
            Self::Not => Ok(TemplateValue::Bool(!first.is_true())),
            Self::Len => access::length(first),
            Self::Index => access::index(first, &arguments[1..]),
            Self::Slice => access::slice(first, &arguments[1..]),
            Self::Print => build_text(budget, |out| print::spaced(arguments, out)),
            Self::Println => build_text(budget, |out| {
                for (index, value) in arguments.iter().enumerate() {
                    out.push(if index > 0 { " " } else { "" })?;
                    print::plain(*value, out)?;
                }
                out.push("\n")
            }),
            Self::Printf => {
                let format = text(first)?;
                budget.spend(format.len() / 64)?;
                build_text(budget, |out| printf::write(format, &arguments[1..], out))
            }
            Self::Html => escaped(arguments, budget, escape::html),
            Self::Js => escaped(arguments, budget, escape::js),
            Self::UrlQuery => escaped(arguments, budget, escape::url_query),
            Self::Call => {
                Err(EvalError::new(format!("there are no functions in the data: {} is none", first.kind())))
            }
            Self::Eq => {
                for other in &arguments[1..] {
                    budget.compared(first, *other)?;
                    if compare::same(first, *other)? {
                        return Ok(TemplateValue::Bool(true));
                    }
                }
                Ok(TemplateValue::Bool(false))
            }
            Self::Ne => {
                budget.compared(first, arguments[1])?;
                Ok(TemplateValue::Bool(!compare::same(first, arguments[1])?))
            }
            Self::Lt => compared(Ordering::is_lt),
            Self::Le => compared(Ordering::is_le),
            Self::Gt => compared(Ordering::is_gt),
            Self::Ge => compared(Ordering::is_ge),
            Self::Json => build_text(budget, |out| print::json(first, out, 0)),
            Self::Quote => {
                let text = text(first)?;
                build_text(budget, |out| escape::quoted(text, '"', false, out))
            }
            Self::FromJson => from_json(text(first)?, budget),
        }
    }
}

fn text(value: TemplateValue<'_>) -> Result<&str, EvalError> {
    match value {
        TemplateValue::Text(text) => Ok(text),
        value => Err(EvalError::new(format!("a string is expected, not {}", value.kind()))),
    }
}

fn escaped<'a>(
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
    match build_text(budget, |out| print::spaced(&shown, out))? {
        TemplateValue::Text(text) => build_text(budget, |out| write(text, out)),
        other => Ok(other),
    }
}

fn from_json<'a>(text: &str, budget: &'a RunBudget) -> Result<TemplateValue<'a>, EvalError> {
    // A short text can hold very many values, each of which takes more memory than its text.
    let values = most_values(text);
    budget.hold(text.len().saturating_add(values.saturating_mul(size_of::<Value>())))?;
    budget.spend(values)?;
    match serde_json::from_str(text) {
        Ok(value) if print::is_too_deep(&value) => Err(print::too_deep()),
        Ok(value) => Ok(budget.keep(value)),
        // What serde says of JSON tells where, and nothing of what stands there.
        Err(error) => Err(EvalError::new(format!("failed to unmarshal JSON: {error}"))),
    }
}

/// How many values a JSON text holds at most; an object takes as much memory as some of them.
fn most_values(text: &str) -> usize {
    let weights = text.bytes().map(|byte| match byte {
        b',' | b'[' => 1,
        b'{' => 4,
        _ => 0,
    });
    weights.sum::<usize>() + 1
}
