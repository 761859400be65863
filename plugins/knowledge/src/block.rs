//! What a text is made of: blocks, one after another, which together are the whole text.

use std::ops::Range;

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A heading of this level, 1 to 6, with its words.
    Heading(u8, String),
    /// Code or a table: lines that belong together.
    Solid,
    /// Anything else: sentences.
    Prose,
}

/// A part of a text, in bytes. It goes on to where the next one begins, so white space after it is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub kind: Kind,
    pub range: Range<usize>,
}

/// The blocks that begin at these places.
pub fn until_the_next(starts: Vec<(usize, Kind)>, length: usize) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::with_capacity(starts.len());
    for (start, kind) in starts {
        // What stands before the first block is part of it.
        let start = if blocks.is_empty() { 0 } else { start };
        if let Some(last) = blocks.last_mut() {
            last.range.end = start;
        }
        blocks.push(Block { kind, range: start..length });
    }
    blocks
}

/// The lines of a text, each with where it begins and without its end.
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
