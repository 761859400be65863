//! Values as text.

use loggia_facade::{Failure, code};
use serde_json::Value;

use crate::description::{ApiParameter, ParameterStyle};

/// Text of a scalar; JSON for anything else.
pub(super) fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A value in the style `simple`: `a,b`, `k,v` or, exploded, `k=v`.
///
/// # Errors
///
/// Null, which has no text.
pub(super) fn joined(parameter: &ApiParameter, value: &Value) -> Result<String, Failure> {
    Ok(match value {
        Value::Null => {
            return Err(Failure::new(
                code::INVALID_PARAMS,
                format!(
                    "`{}` may not be null: it is part of the {}",
                    parameter.name,
                    parameter.place.as_str()
                ),
            ));
        }
        value if parameter.style == ParameterStyle::Json => value.to_string(),
        Value::Array(items) => items.iter().map(scalar).collect::<Vec<_>>().join(","),
        Value::Object(members) => {
            let between = if parameter.explode { "=" } else { "," };
            let pairs = members.iter().map(|(name, value)| format!("{name}{between}{}", scalar(value)));
            pairs.collect::<Vec<_>>().join(",")
        }
        value => scalar(value),
    })
}
