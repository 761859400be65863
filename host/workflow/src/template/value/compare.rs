//! Equality and order of values.

use std::cmp::Ordering;

use super::TemplateValue;
use crate::template::error::EvalError;

/// Compares for equality. Nil equals only nil.
pub(crate) fn equals(one: TemplateValue<'_>, other: TemplateValue<'_>) -> Result<bool, EvalError> {
    match (one, other) {
        (one, other) if one.is_nil() || other.is_nil() => Ok(one.is_nil() && other.is_nil()),
        (TemplateValue::Bool(one), TemplateValue::Bool(other)) => Ok(one == other),
        (TemplateValue::Number(one), TemplateValue::Number(other)) => {
            Ok(one.compare(other) == Some(Ordering::Equal))
        }
        (TemplateValue::Text(one), TemplateValue::Text(other)) => Ok(one == other),
        (one, other) => Err(incompatible(one, other)),
    }
}

/// Compares by order.
pub(crate) fn order(one: TemplateValue<'_>, other: TemplateValue<'_>) -> Result<Ordering, EvalError> {
    match (one, other) {
        (TemplateValue::Number(one), TemplateValue::Number(other)) => {
            one.compare(other).ok_or_else(|| EvalError::new("these numbers cannot be ordered"))
        }
        (TemplateValue::Text(one), TemplateValue::Text(other)) => Ok(one.cmp(other)),
        (one, other) => Err(incompatible(one, other)),
    }
}

fn incompatible(one: TemplateValue<'_>, other: TemplateValue<'_>) -> EvalError {
    if let Some(whole) =
        [one, other].into_iter().find(|value| matches!(value, TemplateValue::List(_) | TemplateValue::Map(_)))
    {
        return EvalError::new(format!("{} cannot be compared", whole.kind_name()));
    }
    EvalError::new(format!(
        "incompatible types for comparison: {} and {}",
        one.kind_name(),
        other.kind_name()
    ))
}
