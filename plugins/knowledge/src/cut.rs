//! Cutting a text into passages: by headings first, then by size, at borders of paragraphs and sentences, with overlap.
//!
//! `text-splitter` cuts Markdown, too, but its tables of Unicode make a guest of 3.4 MB.

mod atoms;

use std::ops::Range;

use crate::{
    block::{Block, Kind},
    store::PASSAGES,
};
use atoms::{Atom, atoms};

/// Sizes in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Maximum length of a passage, without trailing white space.
    pub size: usize,
    /// Maximum number of characters at the end of a passage that the next one of the same section repeats, in whole
    /// sentences.
    pub overlap: usize,
}

/// Byte range of a passage in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    pub range: Range<usize>,
    /// End of the repetition of the previous passage. Together, these new parts are the whole text.
    pub fresh: usize,
    /// Headings above it, from the outermost one.
    pub path: Vec<String>,
}

/// Splits a text into passages. Stops soon after the maximum number of passages: headings alone could fill the memory.
pub fn cut(text: &str, blocks: &[Block], measure: Measure) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut path: Vec<(u8, String)> = Vec::new();
    let mut rest = blocks;
    while let Some(first) = rest.first()
        && cuts.len() <= PASSAGES
    {
        // A heading directly above one of its own sections has no separate passage.
        let mut length = 0;
        let mut above = 0;
        for block in rest {
            match &block.kind {
                Kind::Heading(level, words) if length == 0 || *level > above && is_bare(&rest[..length]) => {
                    path.retain(|(outer, _)| outer < level);
                    path.push((*level, words.clone()));
                    above = *level;
                }
                Kind::Heading(..) => break,
                _ => {}
            }
            length += 1;
        }
        let (section, others) = rest.split_at(length);
        debug_assert_eq!(section.first(), Some(first));
        let words = || path.iter().map(|(_, words)| words.clone()).filter(|words| !words.is_empty());
        let atoms = atoms(text, section, measure.size);
        cuts.extend(fill(&atoms, measure).map(|(own, fresh)| Cut {
            range: atoms[own.start].bytes.start..atoms[own.end - 1].bytes.end,
            fresh: atoms[fresh].bytes.start,
            path: words().collect(),
        }));
        rest = others;
    }
    cuts
}

/// Tests whether there are only headings.
fn is_bare(blocks: &[Block]) -> bool {
    blocks.iter().all(|block| matches!(block.kind, Kind::Heading(..)))
}

/// The passages of a section: their atoms, and the first of them that is not of the passage before.
fn fill(atoms: &[Atom], measure: Measure) -> impl Iterator<Item = (Range<usize>, usize)> {
    let mut fresh = 0;
    std::iter::from_fn(move || {
        if fresh == atoms.len() {
            return None;
        }
        let start = overlapping(atoms, fresh, measure);
        let end = end_of(atoms, start, fresh, measure.size);
        let passage = (start..end, fresh);
        fresh = end;
        Some(passage)
    })
}

/// Characters from one atom to the end of another.
fn length(atoms: &[Atom], from: usize, last: usize) -> usize {
    atoms[last].chars.end - atoms[from].chars.start
}

/// Start of a passage whose first new atom is `fresh`: as far before it as the overlap permits, leaving room for that
/// atom, or for the whole block if it is code or a table that fits.
fn overlapping(atoms: &[Atom], fresh: usize, measure: Measure) -> usize {
    let block = atoms[fresh].block;
    let whole =
        Some(fresh).filter(|at| atoms[*at].solid).and_then(|at| rest_of_block(atoms, at, measure.size));
    let needed = whole.unwrap_or(fresh);
    let mut start = fresh;
    while let Some(before) = start.checked_sub(1) {
        let torn = atoms[before].solid && atoms[before].block != block;
        let overlap = atoms[fresh].chars.start - atoms[before].chars.start;
        if torn || overlap > measure.overlap || length(atoms, before, needed) > measure.size {
            break;
        }
        start = before;
    }
    start
}

/// End of a passage: takes atoms until it is full, and then returns the part of a block that would fit completely into
/// the next passage, if it is code or a table, or if enough is left.
fn end_of(atoms: &[Atom], start: usize, fresh: usize, size: usize) -> usize {
    let mut end = fresh + 1;
    while end < atoms.len() && length(atoms, start, end) <= size {
        end += 1;
    }
    let Some(next) = atoms.get(end) else { return end };
    let first = (fresh..end).find(|at| atoms[*at].block == next.block).unwrap_or(end);
    let torn = first > fresh && first < end;
    let fits = torn && rest_of_block(atoms, first, size).is_some();
    let enough = |at: usize| length(atoms, start, at - 1) * 2 >= size;
    // A heading stays with its text.
    if fits && (next.solid || enough(first)) && !atoms[first - 1].heading { first } else { end }
}

/// Last atom of this atom's block, if all from here to there fit into the size.
fn rest_of_block(atoms: &[Atom], at: usize, size: usize) -> Option<usize> {
    let mut last = at;
    while atoms.get(last + 1).is_some_and(|next| next.block == atoms[at].block) {
        last += 1;
        if length(atoms, at, last) > size {
            return None;
        }
    }
    Some(last)
}
