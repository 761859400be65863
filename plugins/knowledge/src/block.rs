//! Parses a text into a sequence of blocks that cover it.

use std::ops::Range;

/// Kind of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A heading of this level, 1 to 6, with its words.
    Heading(u8, String),
    /// Code or a table: lines that belong together.
    Solid,
    /// Anything else: sentences.
    Prose,
}

/// Start of a block in its text, in bytes. It extends to the next one, including white space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub kind: Kind,
    pub range: Range<usize>,
}

/// The blocks that begin at these places.
pub fn until_the_next(starts: Vec<(usize, Kind)>, length: usize) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::with_capacity(starts.len());
    for (start, kind) in starts {
        // Text before the first block belongs to it.
        let start = if blocks.is_empty() { 0 } else { start };
        if let Some(last) = blocks.last_mut() {
            last.range.end = start;
        }
        blocks.push(Block { kind, range: start..length });
    }
    blocks
}

/// Lines of a text with their offsets, without line ends.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line.trim_end()))
    })
}

/// The blocks of a text that has no markup: its paragraphs.
pub fn paragraphs(text: &str) -> Vec<Block> {
    let mut starts = Vec::new();
    let mut open = false;
    for (start, line) in lines(text) {
        if !line.is_empty() && !open {
            starts.push((start, Kind::Prose));
        }
        open = !line.is_empty();
    }
    until_the_next(starts, text.len())
}
