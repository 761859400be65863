//! From the errors of the validator to one failure: ordered, without repetition, and short.

use loggia_facade::{Failure, code};
use serde_json::Value;

use crate::{
    contract::explain::{
        context::ErrorContext,
        translate,
        violation::{SchemaViolation, ViolationOrder},
    },
    model::limits,
    text::show,
};

/// Characters of a message. Models read it in full.
const MESSAGE: usize = 1200;
/// Characters of a hint.
const HINT: usize = 480;
/// Advice of several violations, in one hint.
const HINTS: usize = 3;
/// Violations that are sorted; any further ones are dropped.
const SORTED: usize = 64;
/// Values in the parameters, beyond which only the first error is collected.
const VALUES: usize = 4096;

/// Explains why the validator refuses parameters.
pub(crate) fn explain(context: &ErrorContext<'_>) -> Failure {
    let ErrorContext { rules, action, instance, .. } = context;
    let mut violations = Vec::new();
    let mut is_cut = false;
    if let Ok(validator) = rules.compiled().map(|compiled| &compiled.validator) {
        if is_large(instance) {
            // A megabyte of invalid items would produce as many errors.
            is_cut = true;
            if let Err(error) = validator.validate(instance) {
                translate::add(context, &error, &mut violations);
            }
        } else {
            for error in validator.iter_errors(instance) {
                translate::add(context, &error, &mut violations);
            }
        }
    }
    if violations.iter().any(|violation| violation.order != ViolationOrder::Fallback) {
        violations.retain(|violation| violation.order != ViolationOrder::Fallback);
    }
    is_cut |= violations.len() > SORTED;
    violations.truncate(SORTED);
    let mut violations = best_by_place(violations);
    // Missing before unknown: an unknown parameter is often a misspelt required one.
    violations.sort_by_key(|violation| violation.order);
    let mut messages: Vec<String> = Vec::new();
    let mut hints: Vec<String> = Vec::new();
    for violation in violations {
        if !messages.contains(&violation.message) {
            messages.push(violation.message);
            hints.extend(violation.hint.filter(|hint| !hints.contains(hint)));
        }
    }
    let more = messages.len().saturating_sub(limits::FAULTS);
    messages.truncate(limits::FAULTS);
    let mut message = show::cut(&messages.join("; "), MESSAGE);
    match (more, is_cut) {
        (0, false) => {}
        (_, true) => message.push_str("; and perhaps more"),
        (more, false) => message.push_str(&format!("; and {more} more")),
    }
    if message.is_empty() {
        message = format!("the parameters are not valid for `{action}`");
    }
    let mut failure = Failure::new(code::INVALID_PARAMS, message);
    hints.truncate(HINTS);
    failure.hint = (!hints.is_empty()).then(|| show::cut(&hints.join(" "), HINT));
    failure
}

/// Whether the parameters hold so many values that collecting all errors would be too expensive.
fn is_large(value: &Value) -> bool {
    fn count(value: &Value, left: &mut usize) {
        *left = left.saturating_sub(1);
        match value {
            _ if *left == 0 => {}
            Value::Array(items) => items.iter().take(*left).for_each(|item| count(item, left)),
            Value::Object(members) => members.values().take(*left).for_each(|item| count(item, left)),
            _ => {}
        }
    }
    let mut left = VALUES;
    count(value, &mut left);
    left == 0
}

/// Keeps the most informative violations of each place: a wrong type makes other violations meaningless, and a list of
/// allowed values is more specific than a type.
fn best_by_place(violations: Vec<SchemaViolation>) -> Vec<SchemaViolation> {
    let best = |place: &str| violations.iter().filter(|v| v.place == place).map(|v| v.rank).min();
    let ranks: Vec<_> = violations.iter().map(|violation| best(&violation.place)).collect();
    violations
        .into_iter()
        .zip(ranks)
        .filter(|(violation, best)| Some(violation.rank) == *best)
        .map(|(violation, _)| violation)
        .collect()
}
