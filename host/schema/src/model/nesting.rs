//! Depth and number of JSON values, counted no further than needed.

use serde_json::Value;

use crate::model::limits;

/// Returns the depth of nested arrays and objects, up to [`limits::NESTING`] + 1.
pub(crate) fn nesting<'a>(values: impl Iterator<Item = &'a Value>) -> usize {
    fn depth(value: &Value, left: usize) -> usize {
        let inner = match value {
            _ if left == 0 => return 1,
            Value::Array(items) => items.iter().map(|item| depth(item, left - 1)).max(),
            Value::Object(members) => members.values().map(|item| depth(item, left - 1)).max(),
            _ => return 0,
        };
        1 + inner.unwrap_or(0)
    }
    1 + values.map(|value| depth(value, limits::NESTING)).max().unwrap_or(0)
}

/// Counts values, up to `most`.
pub(crate) fn nodes<'a>(values: impl Iterator<Item = &'a Value>, most: usize) -> usize {
    let mut count = 0;
    for value in values {
        count += 1;
        if count >= most {
            break;
        }
        match value {
            Value::Array(items) => count += nodes(items.iter(), most - count),
            Value::Object(members) => count += nodes(members.values(), most - count),
            _ => {}
        }
    }
    count
}
