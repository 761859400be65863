//! What is not there, told with what there is: a typing error should not need a search.

use super::{
    EvalError,
    ast::{Operand, Span, Term},
    eval::Run,
    lex::shown,
    value::{Map, Val},
};

/// What was looked for in vain.
#[derive(Clone, Copy)]
pub(super) struct Missed<'a> {
    /// The operand, and the number of the name in it; none for `index`.
    field: Option<(&'a Operand, usize)>,
    /// Where it was looked for.
    within: Val<'a>,
    name: &'a str,
}

/// The most names that are told.
const NAMES: usize = 20;
/// The most names that are looked at: data from elsewhere may have a million.
const LOOKED_AT: usize = 500;

impl<'a> Missed<'a> {
    pub fn field(operand: &'a Operand, number: usize, within: Val<'a>) -> Self {
        Self { field: Some((operand, number)), within, name: &operand.fields[number] }
    }

    pub fn index(within: Map<'a>, name: &'a str) -> Self {
        Self { field: None, within: Val::Map(within), name }
    }

    /// An operand and the first of its names, as the template has them.
    pub fn path(source: &str, operand: &Operand, names: usize) -> String {
        let mut path = match operand.term {
            Term::Dot => String::new(),
            _ => shown(&source[operand.span.start..operand.span.end]),
        };
        for name in &operand.fields[..names] {
            path.push('.');
            path.push_str(name);
        }
        if path.is_empty() { ".".to_owned() } else { shown(&path) }
    }
}

impl Run<'_> {
    /// The error that tells what is missing of what that part of the template looked for.
    pub fn missing(&self, span: Span) -> EvalError {
        let text = shown(&self.source[span.start..span.end]);
        let Some(Missed { field, within, name }) = self.missed else {
            return EvalError::new(format!("`{text}` is not there"));
        };
        let (what, container) = match field {
            Some((operand, number)) => (
                Missed::path(self.source, operand, number + 1),
                format!("`{}`", Missed::path(self.source, operand, number)),
            ),
            None => (text, "it".to_owned()),
        };
        let hint = match within {
            Val::Map(map) => has(&container, map, name),
            value => format!("{container} is {}", value.kind()),
        };
        EvalError { message: format!("`{what}` is not there"), hint: Some(hint) }
    }
}

/// What a map has, by names alone: what they lead to may be secret.
fn has(container: &str, map: Map<'_>, name: &str) -> String {
    let names = map.names(LOOKED_AT);
    if names.is_empty() {
        return format!("{container} is empty");
    }
    let mut told: Vec<String> = names.iter().take(NAMES).map(|name| shown(name)).collect();
    if map.len() > NAMES {
        told.push(format!("{} more", map.len() - NAMES));
    }
    let near = loggia_schema::nearest(name, names.iter().copied());
    let advice = near.map(|near| format!("; did you mean `{}`?", shown(near))).unwrap_or_default();
    format!("{container} has: {}{advice}", told.join(", "))
}
