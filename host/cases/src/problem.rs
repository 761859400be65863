//! Problems of a cases file.

use std::fmt;

use loggia_text::printable;
use loggia_workflow::{FileProblem, yaml::YamlNode};
use serde::Serialize;

/// A mistake in a file, or an expectation that was not met, at its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CaseProblem {
    /// Line, from 1; 0 if unknown.
    pub line: usize,
    /// Column, from 1; 0 if unknown.
    pub column: usize,
    /// Message.
    pub message: String,
    /// Remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl CaseProblem {
    /// Creates a problem at a line and column.
    pub fn at(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self { line, column, message: printable(&message.into()).into_owned(), hint: None }
    }

    /// Creates a problem at a node.
    pub fn of(node: &YamlNode, message: impl Into<String>) -> Self {
        Self::at(node.line, node.column, message)
    }

    /// Creates a problem without a place.
    pub fn nowhere(message: impl Into<String>) -> Self {
        Self::at(0, 0, message)
    }

    /// Adds a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(printable(&hint.into()).into_owned());
        self
    }
}

impl From<FileProblem> for CaseProblem {
    fn from(problem: FileProblem) -> Self {
        Self { line: problem.line, column: 0, message: problem.message, hint: problem.hint }
    }
}

impl fmt::Display for CaseProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "line {line}: ")?,
            (line, column) => write!(f, "line {line}, column {column}: ")?,
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}
