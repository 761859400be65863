//! What is wrong with a file: told with its line, its place in the document, and what to do.

use std::fmt;

use loggia_text::printable;

/// One thing that is wrong, or odd.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Problem {
    /// Where, counted from 1; 0 where nobody knows.
    pub line: usize,
    /// The place in the document: `compositeTools[0].steps[1].tool`.
    pub path: String,
    /// What is wrong; begins with the path where it is ToolHive's own sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether it ends by itself as soon as a facade is served that is not served now. Decides what commands end
    /// with, and is no part of what they print.
    #[serde(skip)]
    pub temporary: bool,
}

/// All that is wrong with a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    /// A problem without advice. Files and facades have a part in its texts: what they hide is escaped.
    pub fn new(line: usize, path: impl Into<String>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        let [path, message] = [path, message].map(|text| printable(&text).into_owned());
        Self { line, path, message, hint: None, temporary: false }
    }

    /// The place in the document, where the message does not name it itself.
    pub fn place(&self) -> Option<&str> {
        Some(self.path.as_str()).filter(|path| !path.is_empty() && !self.message.contains(path))
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(printable(&hint.into()).into_owned());
        self
    }
}

impl fmt::Display for Problem {
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

impl fmt::Display for Problems {
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

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_hides_is_escaped() {
        let problem = Problem::new(1, "steps[\u{7}]", "step `\u{f}take`: no backend").hint("\u{202e}x");
        assert_eq!(problem.to_string(), "line 1: step `\\u{f}take`: no backend (\\u{202e}x)");
        assert_eq!(problem.path, "steps[\\u{7}]");
    }
}
