//! The functions: Go's built-ins, and ToolHive's three.

use std::cmp::Ordering;

use serde_json::Value;

use super::{EvalError, compare, escape, print, printf, run::Budget, text::Text, value::Val};

macro_rules! functions {
    ($($name:literal $variant:ident,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Function { $($variant,)* }

        impl Function {
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            pub fn names() -> impl Iterator<Item = &'static str> {
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

impl Function {
    /// Whether it writes its arguments out, so that one that is missing would be seen.
    pub fn writes(self) -> bool {
        matches!(self, Self::Print | Self::Printf | Self::Println | Self::Html | Self::Js | Self::UrlQuery)
    }

    /// Calls it; `and` and `or` are the caller's, since they do not take all their arguments.
    pub fn call<'a>(self, arguments: &[Val<'a>], budget: &'a Budget) -> Result<Val<'a>, EvalError> {
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
        let first = arguments.first().copied().unwrap_or(Val::Missing);
        let compared = |wanted: fn(Ordering) -> bool| {
            budget.compared(first, arguments[1])?;
            Ok(Val::Bool(wanted(compare::order(first, arguments[1])?)))
        };
        match self {
            Self::And | Self::Or => Ok(first),
            Self::Not => Ok(Val::Bool(!first.is_true())),
            Self::Len => length(first),
            Self::Index => index(first, &arguments[1..]),
            Self::Slice => slice(first, &arguments[1..]),
            Self::Print => budget.make(|out| print::spaced(arguments, out)),
            Self::Println => budget.make(|out| {
                for (index, value) in arguments.iter().enumerate() {
                    out.push(if index > 0 { " " } else { "" })?;
                    print::plain(*value, out)?;
                }
                out.push("\n")
            }),
            Self::Printf => {
                let format = text(first)?;
                budget.spend(format.len() / 64)?;
                budget.make(|out| printf::write(format, &arguments[1..], out))
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
                        return Ok(Val::Bool(true));
                    }
                }
                Ok(Val::Bool(false))
            }
            Self::Ne => {
                budget.compared(first, arguments[1])?;
                Ok(Val::Bool(!compare::same(first, arguments[1])?))
            }
            Self::Lt => compared(Ordering::is_lt),
            Self::Le => compared(Ordering::is_le),
            Self::Gt => compared(Ordering::is_gt),
            Self::Ge => compared(Ordering::is_ge),
            Self::Json => budget.make(|out| print::json(first, out, 0)),
            Self::Quote => {
                let text = text(first)?;
                budget.make(|out| escape::quoted(text, '"', false, out))
            }
            Self::FromJson => from_json(text(first)?, budget),
        }
    }
}

fn text(value: Val<'_>) -> Result<&str, EvalError> {
    match value {
        Val::Text(text) => Ok(text),
        value => Err(EvalError::new(format!("a string is expected, not {}", value.kind()))),
    }
}

fn length<'a>(value: Val<'a>) -> Result<Val<'a>, EvalError> {
    match value {
        Val::Text(text) => Ok(Val::int(text.len())),
        Val::List(list) => Ok(Val::int(list.len())),
        Val::Map(map) => Ok(Val::int(map.len())),
        value => Err(EvalError::new(format!("{} has no length", value.kind()))),
    }
}

fn index<'a>(value: Val<'a>, keys: &[Val<'a>]) -> Result<Val<'a>, EvalError> {
    if value.is_nil() {
        return Err(EvalError::new(format!("`index` of {}", value.kind())));
    }
    keys.iter().try_fold(value, |value, key| match value {
        Val::Map(map) => match *key {
            Val::Text(name) => Ok(map.get(name).map_or(Val::Missing, Val::from)),
            key => {
                Err(EvalError::new(format!("an object has names, so {} cannot lead on in it", key.kind())))
            }
        },
        Val::List(list) => {
            let at = position(*key, list.len(), false)?;
            Ok(Val::from(&list[at]))
        }
        Val::Text(text) => {
            let at = position(*key, text.len(), false)?;
            Ok(Val::int(text.as_bytes()[at].into()))
        }
        Val::Missing | Val::Null => Err(EvalError::new(format!("`index` of {}", value.kind()))),
        value => Err(EvalError::new(format!("{} has nothing to lead to", value.kind()))),
    })
}

/// A place in something so long; its end is one too where something is cut out.
fn position(key: Val<'_>, length: usize, end: bool) -> Result<usize, EvalError> {
    let Val::Number(number) = key else {
        return Err(EvalError::new(format!("a whole number is expected, not {}", key.kind())));
    };
    let Some(whole) = number.whole() else {
        return Err(EvalError::new("a whole number is expected, not one with a fraction"));
    };
    match usize::try_from(whole) {
        Ok(at) if at < length || end && at == length => Ok(at),
        _ => Err(EvalError::new(format!("index out of range: the length is {length}"))),
    }
}

fn slice<'a>(value: Val<'a>, bounds: &[Val<'a>]) -> Result<Val<'a>, EvalError> {
    let length = match value {
        Val::Text(_) if bounds.len() > 2 => {
            return Err(EvalError::new("a string is cut with two indexes at most"));
        }
        Val::Text(text) => text.len(),
        Val::List(list) => list.len(),
        value => return Err(EvalError::new(format!("nothing can be cut out of {}", value.kind()))),
    };
    let at = |number: usize, otherwise: usize| match bounds.get(number) {
        Some(key) => position(*key, length, true),
        None => Ok(otherwise),
    };
    let (from, to, most) = (at(0, 0)?, at(1, length)?, at(2, length)?);
    if from > to || to > most {
        return Err(EvalError::new("what is cut out ends before it begins"));
    }
    match value {
        Val::Text(text) => match text.get(from..to) {
            Some(part) => Ok(Val::Text(part)),
            None => Err(EvalError::new("a character would be cut in two: indexes of strings count bytes")),
        },
        Val::List(list) => Ok(Val::List(&list[from..to])),
        value => Ok(value),
    }
}

fn escaped<'a>(
    arguments: &[Val<'a>],
    budget: &'a Budget,
    write: fn(&str, &mut Text<'_>) -> Result<(), EvalError>,
) -> Result<Val<'a>, EvalError> {
    if let [Val::Text(text)] = arguments {
        return budget.make(|out| write(text, out));
    }
    let shown: Vec<Val<'a>> = arguments
        .iter()
        .map(|value| if value.is_nil() { Val::Text(print::NO_VALUE) } else { *value })
        .collect();
    match budget.make(|out| print::spaced(&shown, out))? {
        Val::Text(text) => budget.make(|out| write(text, out)),
        other => Ok(other),
    }
}

fn from_json<'a>(text: &str, budget: &'a Budget) -> Result<Val<'a>, EvalError> {
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
