//! Problems of a workflow file, with line, path and hint.

use std::fmt;

use loggia_text::printable;

/// Problem, warning or note about a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct FileProblem {
    /// Line, from 1; 0 if unknown.
    pub line: usize,
    /// Path in the document: `compositeTools[0].steps[1].tool`.
    pub path: String,
    /// Message. Begins with the path in ToolHive's own messages.
    pub message: String,
    /// Remedy.
    pub hint: Option<String>,
    /// True if the problem disappears once a missing facade is served. Affects exit codes; not part of the output.
    #[serde(skip)]
    pub temporary: bool,
}

/// All problems of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileProblems(pub Vec<FileProblem>);

impl FileProblem {
    /// Creates a problem without a hint. Hidden characters are escaped: files and facades write parts of the texts.
    pub fn new(line: usize, path: impl Into<String>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        let [path, message] = [path, message].map(|text| printable(&text).into_owned());
        Self { line, path, message, hint: None, temporary: false }
    }

    /// Returns the path, unless the message already contains it.
    pub fn place(&self) -> Option<&str> {
        Some(self.path.as_str()).filter(|path| !path.is_empty() && !self.message.contains(path))
    }

    /// Adds a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(printable(&hint.into()).into_owned());
        self
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for FileProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for FileProblems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_hides_is_escaped() {
        let problem = FileProblem::new(1, "steps[\u{7}]", "step `\u{f}take`: no backend").hint("\u{202e}x");
        assert_eq!(problem.to_string(), "line 1: step `\\u{f}take`: no backend (\\u{202e}x)");
        assert_eq!(problem.path, "steps[\\u{7}]");
    }
}
