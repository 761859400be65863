//! What is not there, told with what there is: a typing error should not need a search.

use crate::template::{
    error::EvalError,
    excerpt::excerpt,
    syntax::{OperandNode, OperandTerm, SourceSpan},
    value::{TemplateMap, TemplateValue},
};

/// What was looked for in vain.
#[derive(Clone, Copy)]
pub(crate) struct MissingField<'a> {
    /// The operand, and the number of the name in it; none for `index`.
    field: Option<(&'a OperandNode, usize)>,
    /// Where it was looked for.
    within: TemplateValue<'a>,
    name: &'a str,
}

/// The most names that are told.
const NAMES: usize = 20;
/// The most names that are looked at: data from elsewhere may have a million.
const LOOKED_AT: usize = 500;

impl<'a> MissingField<'a> {
    pub(super) fn field(operand: &'a OperandNode, number: usize, within: TemplateValue<'a>) -> Self {
        Self { field: Some((operand, number)), within, name: &operand.fields[number] }
    }

    pub(super) fn index(within: TemplateMap<'a>, name: &'a str) -> Self {
        Self { field: None, within: TemplateValue::Map(within), name }
    }

    /// An operand and the first of its names, as the template has them.
    pub(super) fn path(source: &str, operand: &OperandNode, names: usize) -> String {
        let mut path = match operand.term {
            OperandTerm::Dot => String::new(),
            _ => excerpt(&source[operand.span.start..operand.span.end]),
        };
        for name in &operand.fields[..names] {
            path.push('.');
            path.push_str(name);
        }
        if path.is_empty() { ".".to_owned() } else { excerpt(&path) }
    }
}

/// Creates the error for a missing value, with the names that exist where it was looked up.
pub(crate) fn error(source: &str, span: SourceSpan, missing: Option<MissingField<'_>>) -> EvalError {
    let text = excerpt(&source[span.start..span.end]);
    let Some(MissingField { field, within, name }) = missing else {
        return EvalError::new(format!("`{text}` is not there"));
    };
    let (what, container) = match field {
        Some((operand, number)) => (
            MissingField::path(source, operand, number + 1),
            format!("`{}`", MissingField::path(source, operand, number)),
        ),
        None => (text, "it".to_owned()),
    };
    let hint = match within {
        TemplateValue::Map(map) => available(&container, map, name),
        value => format!("{container} is {}", value.kind()),
    };
    EvalError { message: format!("`{what}` is not there"), hint: Some(hint) }
}

/// What a map has, by names alone: what they lead to may be secret.
fn available(container: &str, map: TemplateMap<'_>, name: &str) -> String {
    let names = map.names(LOOKED_AT);
    if names.is_empty() {
        return format!("{container} is empty");
    }
    let mut told: Vec<String> = names.iter().take(NAMES).map(|name| excerpt(name)).collect();
    if map.len() > NAMES {
        told.push(format!("{} more", map.len() - NAMES));
    }
    let near = loggia_schema::nearest(name, names.iter().copied());
    let advice = near.map(|near| format!("; did you mean `{}`?", excerpt(near))).unwrap_or_default();
    format!("{container} has: {}{advice}", told.join(", "))
}
