//! Memory limits of a run. Authors of workflows are trusted; replies to their steps are not.

use loggia_facade::Object;
use serde_json::Value;

use crate::template::EvalError;

/// Maximum total size of the replies held by a run, in bytes.
pub(crate) const REPLIES: usize = 64 << 20;
/// Maximum size of a result, in bytes.
pub(crate) const RESULT: usize = 4 << 20;
/// Maximum size of one call's arguments in memory, in bytes. The gate limits their text to a quarter of this.
pub(crate) const ARGUMENTS: usize = 4 << 20;

/// Memory taken by any value, in bytes: that of `serde_json` with ordered members.
const NODE: usize = 72;

/// Estimates the size of a value, in bytes.
pub(crate) fn value_size(value: &Value) -> usize {
    match value {
        Value::String(text) => NODE + text.len(),
        Value::Array(items) => NODE + items.iter().map(value_size).sum::<usize>(),
        Value::Object(members) => NODE + members_size(members),
        _ => NODE,
    }
}

/// Estimates the size of an object's members, in bytes.
pub(crate) fn members_size(members: &Object) -> usize {
    members.iter().map(|(name, value)| NODE + name.len() + value_size(value)).sum()
}

/// Shrinking budget for values produced by templates.
pub(crate) struct SizeBudget {
    of: &'static str,
    most: usize,
    left: usize,
}

impl SizeBudget {
    /// Creates a budget; `of` names the values in its error.
    pub(crate) fn new(of: &'static str, most: usize) -> Self {
        Self { of, most, left: most }
    }

    /// Takes the size of a value from the budget.
    pub(crate) fn take(&mut self, value: Value) -> Result<Value, EvalError> {
        match self.left.checked_sub(value_size(&value)) {
            Some(left) => {
                self.left = left;
                Ok(value)
            }
            None => Err(EvalError {
                message: format!("{} larger than {} MiB", self.of, self.most >> 20),
                hint: Some("Pass only a part of it.".to_owned()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_budget_shrinks() {
        let mut room = SizeBudget::new("the arguments are", 1 << 20);
        let half = Value::from("x".repeat(1 << 19));
        assert!(room.take(half.clone()).is_ok());
        assert!(room.take(json!([1, {"a": null}])).is_ok());
        assert_eq!(room.take(half).unwrap_err().message, "the arguments are larger than 1 MiB");
    }
}
