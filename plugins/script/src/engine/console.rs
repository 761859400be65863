//! Output of `console.log` and its siblings.

use crate::config::CONSOLE;

/// Collected lines, up to a number of bytes.
#[derive(Debug, Default)]
pub struct Console {
    lines: Vec<String>,
    bytes: usize,
    dropped: usize,
}

impl Console {
    /// Adds a line, or counts it if there is no room.
    pub fn write(&mut self, level: &str, text: &str) {
        let left = CONSOLE.saturating_sub(self.bytes);
        if left == 0 {
            self.dropped += 1;
            return;
        }
        let mut line = if level.is_empty() { text.to_owned() } else { format!("{level}: {text}") };
        if line.len() > left {
            line.truncate(line.floor_char_boundary(left));
            line.push('…');
        }
        self.bytes += line.len() + 1;
        self.lines.push(line);
    }

    /// Room for a line, in bytes.
    pub fn room(&self) -> usize {
        CONSOLE.saturating_sub(self.bytes)
    }

    /// Returns the lines, and a last one about those that were dropped.
    pub fn into_lines(mut self) -> Vec<String> {
        if self.dropped > 0 {
            self.lines.push(format!("… and {} more lines, over {} KiB", self.dropped, CONSOLE >> 10));
        }
        self.lines
    }
}
