//! Answers that are not what the contract says: the plugin's fault.

use loggia_facade::json::{JsonError, VALUES, parse};
use serde_json::Value;

/// Why an answer cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MalformedAnswer {
    #[error("{what} is not valid JSON: {error}")]
    Json { what: &'static str, error: serde_json::Error },
    #[error("{what} holds more than {VALUES} values")]
    TooManyValues { what: &'static str },
    #[error("{given:.100?} is not the type of {what}")]
    MediaType { what: &'static str, given: String },
}

/// Parses a JSON text of an answer; `what` names it in the error.
pub(super) fn parse_json(what: &'static str, text: &str) -> Result<Value, MalformedAnswer> {
    parse(text).map_err(|error| malformed(what, error))
}

/// Reports a JSON text that cannot be used; `what` names it.
pub(super) fn malformed(what: &'static str, error: JsonError) -> MalformedAnswer {
    match error {
        JsonError::Values => MalformedAnswer::TooManyValues { what },
        JsonError::Syntax(error) => MalformedAnswer::Json { what, error },
    }
}
