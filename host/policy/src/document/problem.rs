//! What is wrong with a policy file: all of it at once, so that an operator mends it in one go.

use std::fmt;

use loggia_text::sanitise_line;

/// How many are told on one line; a file that is no policy at all has more than anybody wants to read.
const TOLD: usize = 8;

/// How many are told on a line each.
const LINES: usize = 50;

/// Bytes of one: keys may be long, and are told.
const SAID: usize = 800;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    line: usize,
    /// Keys that lead to the value, such as `http.listen`; empty for other mistakes.
    path: String,
    text: String,
}

/// Mistakes of a file, each with its line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    torn: Option<usize>,
}

impl Problems {
    /// Adds a mistake. It is read on one line, at a terminal too, and holds keys as the file has them, which may hold anything.
    pub fn add(&mut self, line: usize, text: impl AsRef<str>) {
        self.add_at(line, "", text);
    }

    /// Adds a mistake of the value at a path.
    pub fn add_at(&mut self, line: usize, path: &str, text: impl AsRef<str>) {
        if self.torn != Some(line) {
            self.list.push(Problem { line, path: path.to_owned(), text: sanitise_line(text.as_ref(), SAID) });
        }
    }

    /// Ignores further mistakes of a line that is no TOML, since they follow from that.
    pub fn tear(&mut self, line: Option<usize>) {
        self.torn = line;
    }

    /// Whether the file is no TOML at some line, so that a missing key may be there.
    pub fn is_torn(&self) -> bool {
        self.torn.is_some()
    }

    /// Whether the value at a path, or one around or in it, has a mistake.
    pub fn touch(&self, path: &str) -> bool {
        let holds = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let paths = self.list.iter().map(|problem| problem.path.as_str()).filter(|known| !known.is_empty());
        paths.into_iter().any(|known| holds(known, path) || holds(path, known))
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// In the order of the lines.
    pub fn sorted(mut self) -> Self {
        self.list.sort_by_key(|problem| problem.line);
        self
    }

    /// Each on a line of its own.
    pub fn lines(&self) -> String {
        let told =
            self.list.iter().take(LINES).map(|Problem { line, text, .. }| format!("  line {line}: {text}"));
        let more = self.list.len().checked_sub(LINES).filter(|more| *more > 0);
        told.chain(more.map(|more| format!("  and {more} more"))).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, Problem { line, text, .. }) in self.list.iter().take(TOLD).enumerate() {
            write!(f, "{}line {line}: {text}", if n == 0 { "" } else { "; " })?;
        }
        match self.list.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
