//! Paths: `/repos/{owner}/{repo}` with its values.

use loggia_facade::{Failure, code};
use serde_json::Value;

use super::{percent, text};
use crate::description::{ApiOperation, ApiParameter, ParameterPlace};

/// Fills in the path of an operation. The result has as many segments as the template, but for values that may hold slashes;
/// none of them is empty, `.` or `..` because of a value.
///
/// # Errors
///
/// A value that would lead to another path.
pub(super) fn fill(operation: &ApiOperation, values: &[(&ApiParameter, &Value)]) -> Result<String, Failure> {
    let mut out = String::with_capacity(operation.path.len() + 32);
    let mut rest = operation.path.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, left)) = after.split_once('}') else { break };
        out.push_str(&literal(before));
        let found = values.iter().find(|(p, _)| p.place == ParameterPlace::Path && p.name == name);
        let Some((parameter, value)) = found else {
            return Err(Failure::new(code::INVALID_PARAMS, format!("`{name}` is required")));
        };
        out.push_str(&filled(parameter, value, left.is_empty())?);
        rest = left;
    }
    out.push_str(&literal(rest));
    if out.split('/').any(is_dots) {
        let message = "the path's values may not make a segment `.` or `..`";
        return Err(Failure::new(code::INVALID_PARAMS, message));
    }
    Ok(out)
}

/// Encodes what is no part of a path in the template itself.
fn literal(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() || "/-._~:@!$&'()*+,;=%".contains(c) => c.to_string(),
            c => percent::encode(c.encode_utf8(&mut [0; 4])),
        })
        .collect()
}

fn filled(parameter: &ApiParameter, value: &Value, is_last: bool) -> Result<String, Failure> {
    let invalid = |reason: &str| {
        Failure::new(code::INVALID_PARAMS, format!("`{}` {reason}: it is part of the path", parameter.name))
    };
    let text = text::joined(parameter, value)?;
    if !parameter.reserved {
        return match text.as_str() {
            "" => Err(invalid("may not be empty")),
            "." | ".." => Err(invalid("may not be `.` or `..`")),
            text => Ok(percent::encode(text)),
        };
    }
    // A path of its own: empty only where it ends the whole path, since that names the root.
    let text = text.trim_matches('/');
    let is_odd = |segment: &str| segment.is_empty() || is_dots(segment);
    if (text.is_empty() && !is_last) || (!text.is_empty() && text.split('/').any(is_odd)) {
        return Err(invalid("may have no empty segment, `.` or `..`"));
    }
    Ok(text.split('/').map(percent::encode).collect::<Vec<_>>().join("/"))
}

fn is_dots(segment: &str) -> bool {
    matches!(segment, "." | "..")
}
