//! Refusals by `anyOf` and `oneOf`: of several alternatives, which one was meant, and what it lacks.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::{
    contract::{
        explain::About,
        phrase::phrase,
        violation::{self, Fault, Order},
    },
    text::show::{self, allowed},
};

/// Adds what a refusal of all alternatives says.
pub(crate) fn add(
    about: &About<'_>,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    out: &mut Vec<Fault>,
) {
    let place = error.instance_path().as_str();
    let schema = about.schema(error);
    let hint = about.hint(error);
    let mut say = |message: String| {
        out.push(Fault {
            place: place.to_owned(),
            rank: 1,
            order: Order::Wrong,
            message,
            hint: hint.clone(),
        });
    };
    // One of several parameters is required.
    let keyword = if matches!(error.kind(), Kind::AnyOf { .. }) { "anyOf" } else { "oneOf" };
    let list = schema.and_then(|schema| schema.get(keyword)).and_then(Value::as_array);
    if branches
        .iter()
        .flatten()
        .all(|e| matches!(e.kind(), Kind::Required { .. }) && e.instance_path().as_str() == place)
        && let Some(names) = list.and_then(|list| required_names(list))
    {
        let names = show::names(&names, "or");
        return say(match place {
            "" => format!("one of {names} is required"),
            _ => format!("{} must have one of {names}", about.subject(error)),
        });
    }
    // Those that take this kind of value, and among them those whose constants agree.
    let here: Vec<&Vec<ValidationError<'_>>> = branches
        .iter()
        .filter(|errors| !errors.iter().any(|e| is_kind(e) && e.instance_path().as_str() == place))
        .collect();
    let tagged: Vec<_> = here
        .iter()
        .copied()
        .filter(|errors| !errors.iter().any(|e| is_constant(e) && is_child(e, place)))
        .collect();
    if tagged.is_empty()
        && let Some((error, values)) = tags(&here, place)
    {
        let got = about.got(error);
        return say(format!("{} must be one of {}{got}", about.subject(error), values.join(", ")));
    }
    let meant = if tagged.is_empty() { &here } else { &tagged };
    let mut told: Vec<Vec<Fault>> = meant
        .iter()
        .map(|errors| {
            let mut faults = Vec::new();
            errors.iter().for_each(|error| violation::add(about, error, &mut faults));
            faults
        })
        .collect();
    told.sort_by_key(Vec::len);
    // What every alternative lacks is lacking whichever was meant.
    let common = |fault: &Fault| told.iter().all(|faults| faults.iter().any(|f| f.message == fault.message));
    let common: Vec<bool> = told.first().into_iter().flatten().map(common).collect();
    let alone = told.len() == 1;
    match told.into_iter().next() {
        Some(nearest) if alone || nearest.len() == 1 => out.extend(nearest),
        Some(nearest) if common.contains(&true) => {
            out.extend(nearest.into_iter().zip(common).filter(|(_, common)| *common).map(|(fault, _)| fault));
        }
        _ => {
            let form = schema.map_or_else(|| "one of its forms".to_owned(), phrase);
            say(format!("{} must be {form}{}", about.subject(error), about.got(error)));
        }
    }
}

/// The names that alternatives require, where each requires one name and nothing else.
pub(crate) fn required_names(branches: &[Value]) -> Option<Vec<&str>> {
    branches
        .iter()
        .map(|branch| match branch.get("required")?.as_array()?.as_slice() {
            [Value::String(name)] => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

fn is_kind(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. })
}

fn is_constant(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Enum { .. } | Kind::Constant { .. })
}

fn is_child(error: &ValidationError<'_>, place: &str) -> bool {
    let path = error.instance_path().as_str();
    path.strip_prefix(place).is_some_and(|rest| rest.matches('/').count() == 1)
}

/// The values that the alternatives allow for the one member that tells them apart.
fn tags<'a>(
    branches: &[&'a Vec<ValidationError<'static>>],
    place: &str,
) -> Option<(&'a ValidationError<'static>, Vec<String>)> {
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
