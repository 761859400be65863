//! Translates an error of the validator into violations: what the parameter must be, and what was sent.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind, paths::LocationSegment};
use serde_json::Value;

use crate::{
    contract::explain::{
        alternatives::{self, BranchSelection},
        condition,
        context::ErrorContext,
        phrase::{count, got_length, list_values, one_of, phrase, phrase_with_constraints, type_names},
        violation::{SchemaViolation, ViolationOrder},
    },
    model::{formats, keywords, shape::ValueShape},
    text::{
        near, path,
        show::{self, allowed},
    },
};

/// Appends the violations that an error stands for: several for alternatives and for unknown names, otherwise one.
pub(crate) fn add(context: &ErrorContext<'_>, error: &ValidationError<'_>, out: &mut Vec<SchemaViolation>) {
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            add_unknown(context, error, unexpected, out);
        }
        Kind::AnyOf { context: branches } | Kind::OneOfNotValid { context: branches } => {
            add_alternatives(context, error, branches, out);
        }
        Kind::Required { property } => out.push(missing(context, error, property)),
        _ => out.push(simple(context, error)),
    }
}

fn add_alternatives(
    context: &ErrorContext<'_>,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    out: &mut Vec<SchemaViolation>,
) {
    let whole = |message: String| SchemaViolation {
        place: error.instance_path().as_str().to_owned(),
        rank: 1,
        order: ViolationOrder::Wrong,
        message,
        hint: context.hint(error),
    };
    let branches = match alternatives::select(context, error, branches) {
        BranchSelection::Message(message) => return out.push(whole(message)),
        BranchSelection::Branches(branches) => branches,
    };
    let violations = branches.into_iter().map(|errors| {
        let mut violations = Vec::new();
        errors.iter().for_each(|error| add(context, error, &mut violations));
        violations
    });
    match alternatives::merge(violations.collect()) {
        Some(violations) => out.extend(violations),
        None => {
            let form = context.schema(error).map_or_else(|| "one of its forms".to_owned(), phrase);
            let message = format!("{} must be {form}{}", context.subject(error), context.got(error));
            out.push(whole(message));
        }
    }
}

fn simple(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> SchemaViolation {
    if error.instance().is_null()
        && let Some(violation) = null_for_required(context, error)
    {
        return violation;
    }
    let secret = context.is_secret(error);
    let got = context.got(error);
    // The length of a secret is hidden as well.
    let null = Value::Null;
    let sent = if secret { &null } else { &**error.instance() };
    let predicate = match error.kind() {
        Kind::Type { kind } => format!("must be {}{got}", type_names(kind)),
        Kind::Enum { .. } | Kind::Constant { .. } if secret => "must be one of its allowed values".to_owned(),
        Kind::Enum { options } => format!("must be {}{got}", one_of(options)),
        Kind::Constant { expected_value } => format!("must be {}{got}", allowed(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {limit}{got}"),
        Kind::Maximum { limit } => format!("must be at most {limit}{got}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}{got}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}{got}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}{got}"),
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
            format!("must match {}{got}", show::cut(pattern.unwrap_or_default(), 120))
        }
        Kind::Format { format } => match formats::find(format) {
            Some(format) => {
                let article = if format.name.starts_with(['e', 'h', 'I']) && !format.name.starts_with("ho") {
                    "an"
                } else {
                    "a"
                };
                format!("must be {article} {} like {}{got}", format.name, format.sample)
            }
            None => format!("must be of the format {}{got}", show::name(format)),
        },
        Kind::MinItems { limit: 1 } => "must hold at least one item".to_owned(),
        Kind::MinItems { limit } => {
            format!("must hold at least {}{}", count(*limit, "item"), got_length(sent))
        }
        Kind::MaxItems { limit } => {
            format!("must hold at most {}{}", count(*limit, "item"), got_length(sent))
        }
        Kind::AdditionalItems { limit } => {
            format!("must hold at most {}{}", count(*limit as u64, "item"), got_length(sent))
        }
        Kind::UnevaluatedItems { .. }
            if let Some(wanted) = unevaluated(context, error, "unevaluatedItems") =>
        {
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
        Kind::MinProperties { limit } => {
            format!("must have at least {}{}", count(*limit, "member"), got_length(sent))
        }
        Kind::MaxProperties { limit } => {
            format!("must have at most {}{}", count(*limit, "member"), got_length(sent))
        }
        Kind::PropertyNames { error } => {
            let inner = simple(context, error).message;
            // The inner error is about the name, but its subject is the object.
            let predicate = inner.split_once(" must ").map_or(inner.as_str(), |(_, predicate)| predicate);
            format!("has a name that must {predicate}")
        }
        Kind::Contains => contains(context, error),
        Kind::Not { .. } if secret => "must have another value".to_owned(),
        Kind::Not { schema } => format!("{}{got}", not(schema)),
        Kind::OneOfMultipleValid { .. } => match conflicting_names(context, error) {
            Some(message) => message,
            None => format!("is valid in more than one of its forms; give one of them{got}"),
        },
        Kind::FalseSchema => match max_items(context, error) {
            Some(max) => format!("is an item too many (at most {max})"),
            None => "is not allowed here".to_owned(),
        },
        _ => format!("is not valid{got}"),
    };
    let rank = match error.kind() {
        Kind::Enum { .. } | Kind::Constant { .. } => 0,
        Kind::Type { .. } => 1,
        _ => 2,
    };
    let condition = condition::clause(context, error);
    SchemaViolation {
        place: error.instance_path().as_str().to_owned(),
        rank,
        order: ViolationOrder::Wrong,
        message: format!("{} {predicate}{condition}", context.subject(error)),
        hint: near_value(context, error).or_else(|| context.hint(error)),
    }
}

/// A hint at the allowed value closest to the one that was sent.
fn near_value(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> Option<String> {
    let (Kind::Enum { options }, Value::String(sent)) = (error.kind(), &**error.instance()) else {
        return None;
    };
    if context.is_secret(error) {
        return None;
    }
    let near = near::nearest(sent, options.as_array()?.iter().filter_map(Value::as_str))?;
    Some(format!("Did you mean \"{near}\"?"))
}

/// A violation of `required`.
fn missing(context: &ErrorContext<'_>, error: &ValidationError<'_>, property: &Value) -> SchemaViolation {
    let name = property.as_str().unwrap_or_default();
    let within = error.instance_path();
    let mut path = context.path(error);
    path::push(&mut path, &LocationSegment::Property(name.into()));
    let schema = context.schema(error);
    let condition = condition::required_clause(context, error, name);
    let property = schema.and_then(Value::as_object).and_then(|schema| keywords::property(schema, name));
    let property = property.or_else(|| {
        keywords::property(context.rules.schema.as_object()?, name).filter(|_| within.is_empty())
    });
    SchemaViolation {
        place: format!("{}/{name}", within.as_str()),
        rank: 0,
        order: ViolationOrder::Missing,
        message: format!("`{path}` is required{condition}"),
        hint: property.and_then(keywords::advice),
    }
}

/// A null that was sent for a required parameter.
fn null_for_required(context: &ErrorContext<'_>, error: &ValidationError<'_>) -> Option<SchemaViolation> {
    let schema = error.schema_path().as_str();
    let (parent, name) = schema.rsplit_once('/')?.0.rsplit_once("/properties/")?;
    let name = name.replace("~1", "/").replace("~0", "~");
    let parent = context.rules.schema.pointer(parent)?.as_object()?;
    keywords::lists_name(parent, "required", &name).then(|| SchemaViolation {
        place: error.instance_path().as_str().to_owned(),
        rank: 0,
        order: ViolationOrder::Missing,
        message: format!("{} is required (got null)", context.subject(error)),
        hint: parent.get("properties").and_then(|p| p.get(&name)).and_then(keywords::advice),
    })
}

/// Unknown names that are examined: one more than are sorted, so that the message can say that there are more.
const UNKNOWN: usize = 64 + 1;

/// Adds a violation for each name that the schema does not define.
fn add_unknown(
    context: &ErrorContext<'_>,
    error: &ValidationError<'_>,
    unexpected: &[String],
    out: &mut Vec<SchemaViolation>,
) {
    let within = error.instance_path();
    let mut push = |name: &str, order, message: String| {
        let place = format!("{}/{name}", within.as_str());
        out.push(SchemaViolation { place, rank: 0, message, hint: None, order });
    };
    let wanted = unevaluated(context, error, "unevaluatedProperties");
    for name in unexpected.iter().take(UNKNOWN) {
        let message = if let (Some(wanted), false) = (&wanted, context.is_secret(error)) {
            let mut path = context.path(error);
            path::push(&mut path, &LocationSegment::Property(name.into()));
            format!("`{path}` must be {wanted}")
        } else if within.is_empty() && context.defines(name) {
            // If no alternative holds, the validator reports the names of all of them as unknown.
            let message = format!("`{}` cannot be combined with the other parameters", show::name(name));
            push(name, ViolationOrder::Fallback, message);
            continue;
        } else if within.is_empty() {
            context.unknown_parameter(name)
        } else if context.is_secret(error) {
            format!("{} has an unknown member", context.subject(error))
        } else {
            let known = context.schema(error).map(ValueShape::from_schema);
            let near = match &known {
                Some(ValueShape::Record { members, .. }) => {
                    near::nearest(name, members.iter().map(|member| member.name.as_str()))
                }
                _ => None,
            };
            let clue = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            format!("{} has no member `{}`{clue}", context.subject(error), show::name(name))
        };
        push(name, ViolationOrder::Unknown, message);
    }
}

/// The form that a keyword requires of further members or items; none if it allows no further ones.
fn unevaluated(context: &ErrorContext<'_>, error: &ValidationError<'_>, keyword: &str) -> Option<String> {
    context.schema(error)?.get(keyword).filter(|schema| schema.is_object()).map(phrase_with_constraints)
}

/// A violation of `not`, as a predicate.
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
            Some(pattern) => format!("must not match {}", show::cut(pattern, 120)),
            None => format!("must not be {}", phrase_with_constraints(schema)),
        },
    }
}

/// A violation of `contains`, `minContains` or `maxContains`, as a predicate.
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

/// A violation of `oneOf` by more than one alternative, if each alternative only requires a name.
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
