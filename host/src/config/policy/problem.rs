//! What is wrong with a policy file: all of it at once, so that an operator mends it in one go.

use std::fmt;

use loggia_text::sanitise_line;

/// How many are told on one line; a file that is no policy at all has more than anybody wants to read.
const TOLD: usize = 8;

/// How many are told on a line each.
const LINES: usize = 50;

/// Bytes of one: keys may be long, and are told.
const SAID: usize = 800;

/// What is wrong, each with its line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<(usize, String)>);

impl Problems {
    /// Adds one. It is read on one line, at a terminal too, and holds keys as the file has them, which may hold anything.
    pub fn add(&mut self, line: usize, said: impl AsRef<str>) {
        self.0.push((line, sanitise_line(said.as_ref(), SAID)));
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// In the order of the lines.
    pub fn sorted(mut self) -> Self {
        self.0.sort_by_key(|(line, _)| *line);
        self
    }

    /// Each on a line of its own.
    pub fn lines(&self) -> String {
        let told = self.0.iter().take(LINES).map(|(line, said)| format!("  line {line}: {said}"));
        let more = self.0.len().checked_sub(LINES).filter(|more| *more > 0);
        told.chain(more.map(|more| format!("  and {more} more"))).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (line, said)) in self.0.iter().take(TOLD).enumerate() {
            write!(f, "{}line {line}: {said}", if n == 0 { "" } else { "; " })?;
        }
        match self.0.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
