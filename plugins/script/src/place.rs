//! Positions in a program, as messages show them.

use boa_engine::ast::Position;
use loggia_sdk::Serialize;

/// Characters of a source line that a message shows.
const LINE: usize = 120;

/// A position in a program, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    /// Converts a position of the text that the engine runs. Its first line has no place in the program.
    pub fn of(position: Position) -> Option<Self> {
        Self::unwrapped(position.line_number(), position.column_number())
    }

    /// Converts a line and column of that text.
    pub fn unwrapped(line: u32, column: u32) -> Option<Self> {
        Some(Self { line: line.checked_sub(1).filter(|line| *line > 0)?, column })
    }
}

/// Renders a position and its line: ` (line 2, column 7: const x = ;)`.
pub fn place(code: &str, at: Option<Place>) -> String {
    let Some(Place { line, column }) = at else { return String::new() };
    let index = usize::try_from(line).map_or(0, |line| line.saturating_sub(1));
    let text = code.lines().nth(index).unwrap_or_default().trim();
    let shown: String = text.chars().take(LINE).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    let separator = if shown.is_empty() { "" } else { ": " };
    format!(" (line {line}, column {column}{separator}{shown}{more})")
}
