//! Errors for missing values. They list the existing names, so that a typo is easy to find.

use crate::template::{
    error::EvalError,
    excerpt::excerpt,
    syntax::{OperandNode, OperandTerm, SourceSpan},
    value::{TemplateMap, TemplateValue},
};

/// Lookup that found nothing.
#[derive(Clone, Copy)]
pub(crate) struct MissingField<'a> {
    /// Operand and index of its missing field; `None` for `index`.
    field: Option<(&'a OperandNode, usize)>,
    /// Container of the lookup.
    within: TemplateValue<'a>,
    name: &'a str,
}

/// Maximum number of listed names.
const NAMES: usize = 20;
/// Maximum number of names to consider; foreign data may have a million.
const LOOKED_AT: usize = 500;

impl<'a> MissingField<'a> {
    pub(super) fn field(operand: &'a OperandNode, number: usize, within: TemplateValue<'a>) -> Self {
        Self { field: Some((operand, number)), within, name: &operand.fields[number] }
    }

    pub(super) fn index(within: TemplateMap<'a>, name: &'a str) -> Self {
        Self { field: None, within: TemplateValue::Map(within), name }
    }

    /// Formats an operand with its first fields, as written.
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
        return EvalError::new(format!("`{text}` does not exist"));
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
        value => format!("{container} is {}", value.kind_name()),
    };
    EvalError { message: format!("`{what}` does not exist"), hint: Some(hint) }
}

/// Lists the names in a map, without values: these may be secret.
fn available(container: &str, map: TemplateMap<'_>, name: &str) -> String {
    let names = map.names(LOOKED_AT);
    if names.is_empty() {
        return format!("{container} is empty");
    }
    let mut listed: Vec<String> = names.iter().take(NAMES).map(|name| excerpt(name)).collect();
    if map.len() > NAMES {
        listed.push(format!("{} more", map.len() - NAMES));
    }
    let near = loggia_schema::nearest(name, names.iter().copied());
    let advice = near.map(|near| format!("; did you mean `{}`?", excerpt(near))).unwrap_or_default();
    format!("{container} has: {}{advice}", listed.join(", "))
}
