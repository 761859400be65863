//! Violations of `anyOf` and `oneOf`: selects the alternative that the caller most likely meant.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::{
    contract::explain::{context::ErrorContext, violation::SchemaViolation},
    text::show::{self, allowed},
};

/// The errors of one alternative.
type BranchErrors = Vec<ValidationError<'static>>;

/// What to report of a value that no alternative accepts.
pub(crate) enum BranchSelection<'e> {
    /// One message covers all alternatives.
    Message(String),
    /// The errors of the alternatives that the caller can have meant.
    Branches(Vec<&'e BranchErrors>),
}

/// Selects what to report of a value that no alternative accepts.
pub(crate) fn select<'e>(
    context: &ErrorContext<'_>,
    error: &ValidationError<'_>,
    branches: &'e [BranchErrors],
) -> BranchSelection<'e> {
    let place = error.instance_path().as_str();
    // All alternatives require one parameter each.
    let keyword = if matches!(error.kind(), Kind::AnyOf { .. }) { "anyOf" } else { "oneOf" };
    let schemas = context.schema(error).and_then(|schema| schema.get(keyword)).and_then(Value::as_array);
    if branches
        .iter()
        .flatten()
        .all(|e| matches!(e.kind(), Kind::Required { .. }) && e.instance_path().as_str() == place)
        && let Some(names) = schemas.and_then(|schemas| required_names(schemas))
    {
        let names = show::names(&names, "or");
        return BranchSelection::Message(match place {
            "" => format!("one of {names} is required"),
            _ => format!("{} must have one of {names}", context.subject(error)),
        });
    }
    // Alternatives that accept this type of value, and among them those whose constants match.
    let of_type: Vec<&BranchErrors> = branches
        .iter()
        .filter(|errors| !errors.iter().any(|e| is_type(e) && e.instance_path().as_str() == place))
        .collect();
    let tagged: Vec<_> = of_type
        .iter()
        .copied()
        .filter(|errors| !errors.iter().any(|e| is_constant(e) && is_child(e, place)))
        .collect();
    if !tagged.is_empty() {
        return BranchSelection::Branches(tagged);
    }
    match tags(&of_type, place) {
        Some((error, values)) => {
            let got = context.got(error);
            BranchSelection::Message(format!(
                "{} must be one of {}{got}",
                context.subject(error),
                values.join(", ")
            ))
        }
        None => BranchSelection::Branches(of_type),
    }
}

/// The violations to report of those of several alternatives: all of the alternative with the fewest, if it is the only
/// one or has only one; otherwise those that all alternatives share. None where they share none.
pub(crate) fn merge(mut branches: Vec<Vec<SchemaViolation>>) -> Option<Vec<SchemaViolation>> {
    branches.sort_by_key(Vec::len);
    let is_common = |violation: &SchemaViolation| {
        branches.iter().all(|branch| branch.iter().any(|other| other.message == violation.message))
    };
    let common: Vec<bool> = branches.first().into_iter().flatten().map(is_common).collect();
    let is_only = branches.len() == 1;
    let nearest = branches.into_iter().next()?;
    if is_only || nearest.len() == 1 {
        return Some(nearest);
    }
    let shared =
        nearest.into_iter().zip(&common).filter(|(_, common)| **common).map(|(violation, _)| violation);
    common.contains(&true).then(|| shared.collect())
}

/// The names that alternatives require, if each requires one name and nothing else.
pub(crate) fn required_names(branches: &[Value]) -> Option<Vec<&str>> {
    branches
        .iter()
        .map(|branch| match branch.get("required")?.as_array()?.as_slice() {
            [Value::String(name)] => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

fn is_type(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. })
}

fn is_constant(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Enum { .. } | Kind::Constant { .. })
}

fn is_child(error: &ValidationError<'_>, place: &str) -> bool {
    let path = error.instance_path().as_str();
    path.strip_prefix(place).is_some_and(|rest| rest.matches('/').count() == 1)
}

/// The values that the alternatives allow for the one member by which they differ.
fn tags<'e>(
    branches: &[&'e BranchErrors],
    place: &str,
) -> Option<(&'e ValidationError<'static>, Vec<String>)> {
    let mut values = Vec::new();
    let mut first: Option<&ValidationError<'_>> = None;
    for errors in branches {
        let error = errors.iter().find(|e| is_constant(e) && is_child(e, place))?;
        if first.is_some_and(|first| first.instance_path() != error.instance_path()) {
            return None;
        }
        first.get_or_insert(error);
        match error.kind() {
            Kind::Constant { expected_value } => values.push(allowed(expected_value)),
            Kind::Enum { options } => values.extend(options.as_array().into_iter().flatten().map(allowed)),
            _ => {}
        }
    }
    Some((first?, values))
}
