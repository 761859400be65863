//! Problems of a document. All are collected before they are reported, so that an operator can fix them at once.

use std::fmt;

use loggia_text::sanitise_line;

/// Maximum number of problems in the one-line form. A file that is not a policy at all has too many to read.
const MAX_ON_ONE_LINE: usize = 8;

/// Maximum number of problems in the form of one line each.
const MAX_LINES: usize = 50;

/// Maximum size of one problem in bytes, since it quotes keys, which may be long.
const MAX_TEXT: usize = 800;

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    line: usize,
    /// Dotted path of the value, such as `http.listen`; empty if the problem is not of one value.
    path: String,
    text: String,
}

/// Problems of a document, each with its line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    /// Line of the first syntax error.
    syntax_error: Option<usize>,
}

impl Problems {
    /// Adds a problem. Control characters are removed, since the text quotes keys of the file and is printed to
    /// terminals.
    pub fn add(&mut self, line: usize, text: impl AsRef<str>) {
        self.add_at(line, "", text);
    }

    /// Adds a problem of the value at a path.
    pub fn add_at(&mut self, line: usize, path: &str, text: impl AsRef<str>) {
        if self.syntax_error != Some(line) {
            let text = sanitise_line(text.as_ref(), MAX_TEXT);
            self.list.push(Problem { line, path: path.to_owned(), text });
        }
    }

    /// Records the line of a syntax error. Further problems of this line are ignored, since they are consequences.
    pub fn set_syntax_error(&mut self, line: Option<usize>) {
        self.syntax_error = line;
    }

    /// Returns true if the file has a syntax error. A key that seems to be missing may be on the lines after it.
    pub fn has_syntax_error(&self) -> bool {
        self.syntax_error.is_some()
    }

    /// Returns true if the value at a path, a table around it or a value in it has a problem.
    pub fn affect(&self, path: &str) -> bool {
        let contains = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let paths = self.list.iter().map(|problem| problem.path.as_str()).filter(|known| !known.is_empty());
        paths.into_iter().any(|known| contains(known, path) || contains(path, known))
    }

    /// Returns true if there are no problems.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of problems.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Sorts the problems by line.
    pub fn sorted(mut self) -> Self {
        self.list.sort_by_key(|problem| problem.line);
        self
    }

    /// Renders one problem per line.
    pub fn lines(&self) -> String {
        let problems = self.list.iter().take(MAX_LINES);
        let lines = problems.map(|Problem { line, text, .. }| format!("  line {line}: {text}"));
        let more = self.list.len().checked_sub(MAX_LINES).filter(|more| *more > 0);
        lines.chain(more.map(|more| format!("  and {more} more"))).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, Problem { line, text, .. }) in self.list.iter().take(MAX_ON_ONE_LINE).enumerate() {
            write!(f, "{}line {line}: {text}", if n == 0 { "" } else { "; " })?;
        }
        match self.list.len().saturating_sub(MAX_ON_ONE_LINE) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
