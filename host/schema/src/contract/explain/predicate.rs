//! The predicate of a message: what the value must be, and what was sent.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind, paths::LocationSegment};
use serde_json::Value;

use crate::{
    contract::explain::{
        alternatives, condition,
        context::ErrorContext,
        phrase::{count, got_length, list_values, one_of, phrase_with_constraints, type_names},
    },
    model::{formats, keywords},
    text::show::{self, allowed},
};

/// Characters of a pattern in a message.
const PATTERN: usize = 120;

/// The message for an error: `` `limit` must be at most 50 (got 99) ``.
pub(crate) fn message(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> String {
    let subject = context.subject(error);
    format!("{subject} {}{}", predicate(context, error), condition::clause(context, error))
}

fn predicate(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> String {
    let got = context.got(error);
    let is_secret = context.is_secret(error);
    // The length of a secret is hidden as well.
    let null = Value::Null;
    let sent = if is_secret { &null } else { &**error.instance() };
    let by_type = number_predicate(error, &got)
        .or_else(|| string_predicate(context, error, &got, sent))
        .or_else(|| array_predicate(context, error, sent))
        .or_else(|| object_predicate(context, error, sent));
    by_type.unwrap_or_else(|| match error.kind() {
        Kind::Type { kind } => format!("must be {}{got}", type_names(kind)),
        Kind::Enum { .. } | Kind::Constant { .. } if is_secret => {
            "must be one of its allowed values".to_owned()
        }
        Kind::Enum { options } => format!("must be {}{got}", one_of(options)),
        Kind::Constant { expected_value } => format!("must be {}{got}", allowed(expected_value)),
        Kind::Not { .. } if is_secret => "must have another value".to_owned(),
        Kind::Not { schema } => format!("{}{got}", not(schema)),
        Kind::OneOfMultipleValid { .. } => conflicting_names(context, error)
            .unwrap_or_else(|| format!("is valid in more than one of its forms; give one of them{got}")),
        Kind::FalseSchema => match max_items(context, error) {
            Some(max) => format!("is an item too many (at most {max})"),
            None => "is not allowed here".to_owned(),
        },
        _ => format!("is not valid{got}"),
    })
}

fn number_predicate(error: &ValidationError<'_>, got: &str) -> Option<String> {
    Some(match error.kind() {
        Kind::Minimum { limit } => format!("must be at least {limit}{got}"),
        Kind::Maximum { limit } => format!("must be at most {limit}{got}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}{got}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}{got}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}{got}"),
        _ => return None,
    })
}

fn string_predicate(
    context: &ErrorContext<'_>,
    error: &ValidationError<'_>,
    got: &str,
    sent: &Value,
) -> Option<String> {
    Some(match error.kind() {
        Kind::MinLength { limit: 1 } => "must not be empty".to_owned(),
        Kind::MinLength { limit } => {
            format!("must have at least {}{}", count(*limit, "character"), got_length(sent))
        }
        Kind::MaxLength { limit } => {
            format!("must have at most {}{}", count(*limit, "character"), got_length(sent))
        }
        // The keyword of `pattern.rs`; patterns of property names are the validator's own.
        Kind::Custom { .. } => {
            let pattern = context.schema(error).and_then(|schema| schema.get("pattern")?.as_str());
            format!("must match {}{got}", show::cut(pattern.unwrap_or_default(), PATTERN))
        }
        Kind::Format { format } => match formats::find(format) {
            Some(format) => {
                let takes_an = format.name.starts_with(['e', 'h', 'I']) && !format.name.starts_with("ho");
                let article = if takes_an { "an" } else { "a" };
                format!("must be {article} {} like {}{got}", format.name, format.sample)
            }
            None => format!("must be of the format {}{got}", show::name(format)),
        },
        _ => return None,
    })
}

fn array_predicate(context: &ErrorContext<'_>, error: &ValidationError<'_>, sent: &Value) -> Option<String> {
    let at_most = |limit| format!("must hold at most {}{}", count(limit, "item"), got_length(sent));
    Some(match error.kind() {
        Kind::MinItems { limit: 1 } => "must hold at least one item".to_owned(),
        Kind::MinItems { limit } => {
            format!("must hold at least {}{}", count(*limit, "item"), got_length(sent))
        }
        Kind::MaxItems { limit } => at_most(*limit),
        Kind::AdditionalItems { limit } => at_most(*limit as u64),
        Kind::UnevaluatedItems { .. } if let Some(wanted) = further(context, error, "unevaluatedItems") => {
            format!("has further items, and each must be {wanted}")
        }
        Kind::UnevaluatedItems { unexpected } => {
            let many = count(unexpected.len().max(1) as u64, "item");
            format!("holds {many} too many{}", got_length(sent))
        }
        Kind::UniqueItems => match repeated(sent) {
            Some((first, second)) => format!("must not repeat an item (item {second} is item {first} again)"),
            None => "must not repeat an item".to_owned(),
        },
        Kind::Contains => contains(context, error),
        _ => return None,
    })
}

fn object_predicate(context: &ErrorContext<'_>, error: &ValidationError<'_>, sent: &Value) -> Option<String> {
    Some(match error.kind() {
        Kind::MinProperties { limit } => {
            format!("must have at least {}{}", count(*limit, "member"), got_length(sent))
        }
        Kind::MaxProperties { limit } => {
            format!("must have at most {}{}", count(*limit, "member"), got_length(sent))
        }
        Kind::PropertyNames { error } => {
            // The inner error is about the name, but its subject is the object.
            let inner = message(context, error);
            let predicate = inner.split_once(" must ").map_or(inner.as_str(), |(_, predicate)| predicate);
            format!("has a name that must {predicate}")
        }
        _ => return None,
    })
}

/// The form that `unevaluatedProperties` or `unevaluatedItems` requires of further members or items; none if it allows no
/// further ones.
pub(crate) fn further(
    context: &ErrorContext<'_>,
    error: &ValidationError<'_>,
    keyword: &str,
) -> Option<String> {
    context.schema(error)?.get(keyword).filter(|schema| schema.is_object()).map(phrase_with_constraints)
}

/// The predicate for `not`.
fn not(schema: &Value) -> String {
    if let Some(Value::Array(names)) = schema.get("required") {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        return match names.as_slice() {
            [only] => format!("must not have `{only}`"),
            names => format!("must not have {} together", show::names(names, "and")),
        };
    }
    match schema.as_object().and_then(keywords::allowed_values) {
        Some([only]) => format!("must not be {}", allowed(only)),
        Some(values) => format!("must not be any of {}", list_values(values)),
        None => match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) => format!("must not match {}", show::cut(pattern, PATTERN)),
            None => format!("must not be {}", phrase_with_constraints(schema)),
        },
    }
}

/// The predicate for `contains`, `minContains` and `maxContains`.
fn contains(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> String {
    let schema = context.schema(error);
    let bound = |keyword| schema.and_then(|schema| schema.get(keyword)).and_then(Value::as_u64);
    let item = schema
        .and_then(|schema| schema.get("contains"))
        .map_or_else(|| "any".to_owned(), phrase_with_constraints);
    let many =
        |limit| if limit == 1 { "1 item that is".to_owned() } else { format!("{limit} items that are each") };
    match (error.schema_path().as_str().rsplit('/').next(), bound("minContains"), bound("maxContains")) {
        (Some("maxContains"), _, Some(most)) => format!("must hold at most {} {item}", many(most)),
        (Some("minContains"), Some(least), _) => format!("must hold at least {} {item}", many(least)),
        _ => format!("must hold an item that is {item}"),
    }
}

/// The maximum length of the array whose extra item is refused.
fn max_items(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> Option<usize> {
    matches!(error.instance_path().segments().last(), Some(LocationSegment::Index(_))).then_some(())?;
    error.schema_path().as_str().ends_with("/items").then_some(())?;
    let first = context.schema(error)?.get("prefixItems").and_then(Value::as_array);
    Some(first.map_or(0, Vec::len))
}

/// The predicate for a value that matches several alternatives of `oneOf`, if each one only requires a name.
fn conflicting_names(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> Option<String> {
    let branches = context.schema(error)?.get("oneOf")?.as_array()?;
    let names = alternatives::required_names(branches)?;
    Some(format!("must have only one of {}", show::names(&names, "and")))
}

/// The indices of the first two equal items.
fn repeated(sent: &Value) -> Option<(usize, usize)> {
    /// Items that are compared: the search is quadratic.
    const COMPARED: usize = 200;
    let items = &sent.as_array()?[..];
    let items = &items[..items.len().min(COMPARED)];
    (1..items.len()).find_map(|second| {
        let first = items[..second].iter().position(|item| *item == items[second])?;
        Some((first, second))
    })
}
