//! Errors of parsing and of evaluation.

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// One sentence.
    pub message: String,
    /// Where, in bytes from the beginning.
    pub at: Option<usize>,
}

/// Why a template came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// One sentence, without values that might be secret.
    pub message: String,
    /// What to do about it: the names that there are.
    pub hint: Option<String>,
}

impl ParseError {
    /// Creates an error at a byte offset of the source.
    pub(super) fn new(message: impl Into<String>, at: usize) -> Self {
        Self { message: message.into(), at: Some(at) }
    }
}

impl EvalError {
    /// An error without advice.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }
}
