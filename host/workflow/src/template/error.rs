//! Errors of parsing and of evaluation.

/// Reason for which a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// One sentence.
    pub message: String,
    /// Byte offset of the error.
    pub at: Option<usize>,
}

/// Reason for which an expansion failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// One sentence, without data that may be secret.
    pub message: String,
    /// Remedy: the names that exist.
    pub hint: Option<String>,
}

impl ParseError {
    /// Creates an error at a byte offset of the source.
    pub(super) fn new(message: impl Into<String>, at: usize) -> Self {
        Self { message: message.into(), at: Some(at) }
    }
}

impl EvalError {
    /// Creates an error without a hint.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }
}
