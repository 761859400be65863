//! Why a text cannot be edited.

/// Text that is not of its format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct SyntaxFault {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Why a text cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    /// The file is not of its format.
    #[error(transparent)]
    Syntax(#[from] SyntaxFault),
    /// It has a form in which an entry cannot be put; the text says which.
    #[error("{0}")]
    Form(String),
    /// Read again, the edited file says something else.
    #[error("the file cannot be edited without changing more than the entry")]
    Lossy,
}
