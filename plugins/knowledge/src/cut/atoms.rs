//! What is not cut through: a sentence, a line of code, a row of a table, as long as it is no larger than a passage.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::block::{Block, Kind};

/// A piece of a section. Each begins where the one before ends.
#[derive(Debug, PartialEq, Eq)]
pub struct Atom {
    pub bytes: Range<usize>,
    /// The same in characters of the section, without the white space at its end.
    pub chars: Range<usize>,
    /// Which block it is of.
    pub block: usize,
    /// Of code or a table.
    pub solid: bool,
    pub heading: bool,
}

/// The atoms of some blocks, none with more characters than `size`.
pub fn atoms(text: &str, blocks: &[Block], size: usize) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::new();
    let mut chars = 0;
    for (number, block) in blocks.iter().enumerate() {
        let solid = block.kind == Kind::Solid;
        let heading = matches!(block.kind, Kind::Heading(..));
        let whole = &text[block.range.clone()];
        let mut start = block.range.start;
        for piece in pieces(whole, solid).into_iter().flat_map(|piece| parts(piece, size)) {
            let bytes = start..start + piece.len();
            start = bytes.end;
            let shown = piece.trim_end().chars().count();
            let next = chars + piece.chars().count();
            match atoms.last_mut().filter(|_| shown == 0) {
                // White space belongs to what it follows.
                Some(last) => last.bytes.end = bytes.end,
                None => atoms.push(Atom { bytes, chars: chars..chars + shown, block: number, solid, heading }),
            }
            chars = next;
        }
    }
    atoms
}

/// The lines or the sentences of a block. Unicode's rules end a sentence at the end of a line, too; so that a sentence that
/// goes on in the next line is not cut there, only lines that end one, or begin an item, count.
fn pieces(block: &str, solid: bool) -> Vec<&str> {
    if solid {
        return block.split_inclusive('\n').collect();
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, sentence) in block.split_sentence_bound_indices() {
        let end = at + sentence.len();
        if sentence.ends_with('\n') && goes_on(sentence, &block[end..]) {
            continue;
        }
        pieces.push(&block[start..end]);
        start = end;
    }
    pieces.extend(Some(&block[start..]).filter(|rest| !rest.is_empty()));
    pieces
}

/// Whether a line ends within a sentence: the next one begins with a small letter, or this one has no end of its own.
fn goes_on(line: &str, rest: &str) -> bool {
    let ended = line.trim_end().ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '"', ')', '|']);
    !ended && rest.starts_with(char::is_alphanumeric)
}

/// A piece in parts that are not too large: cut at white space where there is some in the second half of a part.
fn parts(mut piece: &str, size: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    while let Some((limit, _)) = piece.char_indices().nth(size).filter(|_| piece.trim_end().chars().nth(size).is_some()) {
        let head = &piece[..limit];
        let border = head.rfind(char::is_whitespace).filter(|at| *at >= limit / 2);
        let at = border.map_or(limit, |at| at + head[at..].chars().next().map_or(0, char::len_utf8));
        let (part, rest) = piece.split_at(at);
        parts.push(part);
        piece = rest;
    }
    parts.push(piece);
    parts
}
