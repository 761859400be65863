//! Translates errors of the validator into violations.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind, paths::LocationSegment};
use serde_json::Value;

use crate::{
    contract::explain::{
        alternatives::{self, BranchSelection},
        condition,
        context::ErrorContext,
        phrase::phrase,
        predicate,
        violation::{SchemaViolation, ViolationOrder},
    },
    model::{keywords, shape::ValueShape},
    text::{near, path, show},
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
    let rank = match error.kind() {
        Kind::Enum { .. } | Kind::Constant { .. } => 0,
        Kind::Type { .. } => 1,
        _ => 2,
    };
    SchemaViolation {
        place: error.instance_path().as_str().to_owned(),
        rank,
        order: ViolationOrder::Wrong,
        message: predicate::message(context, error),
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
    let wanted = predicate::further(context, error, "unevaluatedProperties");
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
