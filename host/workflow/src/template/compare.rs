//! Which of two values is greater, or whether they are the same.

use std::cmp::Ordering;

use super::{EvalError, value::Val};

/// Whether two values are the same. Nothing is the same as nothing, and as nothing else.
pub(super) fn same(one: Val<'_>, other: Val<'_>) -> Result<bool, EvalError> {
    match (one, other) {
        (one, other) if one.is_nil() || other.is_nil() => Ok(one.is_nil() && other.is_nil()),
        (Val::Bool(one), Val::Bool(other)) => Ok(one == other),
        (Val::Number(one), Val::Number(other)) => Ok(one.compare(other) == Some(Ordering::Equal)),
        (Val::Text(one), Val::Text(other)) => Ok(one == other),
        (one, other) => Err(incompatible(one, other)),
    }
}

/// Which of two values is greater.
pub(super) fn order(one: Val<'_>, other: Val<'_>) -> Result<Ordering, EvalError> {
    match (one, other) {
        (Val::Number(one), Val::Number(other)) => {
            one.compare(other).ok_or_else(|| EvalError::new("these numbers have no order"))
        }
        (Val::Text(one), Val::Text(other)) => Ok(one.cmp(other)),
        (one, other) => Err(incompatible(one, other)),
    }
}

fn incompatible(one: Val<'_>, other: Val<'_>) -> EvalError {
    if let Some(whole) = [one, other].into_iter().find(|value| matches!(value, Val::List(_) | Val::Map(_))) {
        return EvalError::new(format!("{} cannot be compared", whole.kind()));
    }
    EvalError::new(format!("incompatible types for comparison: {} and {}", one.kind(), other.kind()))
}
