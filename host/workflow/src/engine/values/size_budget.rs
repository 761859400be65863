//! How much a run may hold. Whoever writes a workflow is trusted; what its steps reply is not.

use loggia_facade::Object;
use serde_json::Value;

use crate::template::EvalError;

/// What the replies of a run hold together, in bytes.
pub(crate) const REPLIES: usize = 64 << 20;
/// A run's result, in bytes.
pub(crate) const RESULT: usize = 4 << 20;
/// What one call's arguments may become, in bytes of memory; as text the gate takes a quarter.
pub(crate) const ARGUMENTS: usize = 4 << 20;

/// What a value takes in memory, whatever is in it: that of `serde_json` with the order of its members.
const NODE: usize = 72;

/// About how many bytes a value takes.
pub(crate) fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => NODE + text.len(),
        Value::Array(items) => NODE + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => NODE + weight_of(members),
        _ => NODE,
    }
}

/// The same of an object's members.
pub(crate) fn weight_of(members: &Object) -> usize {
    members.iter().map(|(name, value)| NODE + name.len() + weight(value)).sum()
}

/// Room for what templates make, which gets less with each.
pub(crate) struct SizeBudget {
    of: &'static str,
    most: usize,
    left: usize,
}

impl SizeBudget {
    /// Room for so many bytes of what is named in its error.
    pub(crate) fn new(of: &'static str, most: usize) -> Self {
        Self { of, most, left: most }
    }

    /// Takes what a value needs.
    pub(crate) fn take(&mut self, value: Value) -> Result<Value, EvalError> {
        match self.left.checked_sub(weight(&value)) {
            Some(left) => {
                self.left = left;
                Ok(value)
            }
            None => Err(EvalError {
                message: format!("{} larger than {} MiB", self.of, self.most >> 20),
                hint: Some("Pass a part of it.".to_owned()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_taken_is_no_longer_there() {
        let mut room = SizeBudget::new("the arguments are", 1 << 20);
        let half = Value::from("x".repeat(1 << 19));
        assert!(room.take(half.clone()).is_ok());
        assert!(room.take(json!([1, {"a": null}])).is_ok());
        assert_eq!(room.take(half).unwrap_err().message, "the arguments are larger than 1 MiB");
    }
}
