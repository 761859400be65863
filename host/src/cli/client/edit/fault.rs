//! Why a text cannot be edited.

/// Text that is not of its format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct SyntaxFault {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub reason: String,
}

/// Why a text cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    #[error(transparent)]
    Syntax(#[from] SyntaxFault),
    #[error("{0}")]
    Form(String),
    #[error("the file cannot be edited without changing more than the entry")]
    Lossy,
}
