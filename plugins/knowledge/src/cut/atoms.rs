//! Indivisible pieces: a sentence, a line of code, a row of a table, unless it is larger than a passage.

use std::ops::Range;

use crate::block::{Block, Kind};

/// A piece of a section. Pieces are contiguous.
#[derive(Debug, PartialEq, Eq)]
pub struct Atom {
    pub bytes: Range<usize>,
    /// Range in characters of the section, without trailing white space.
    pub chars: Range<usize>,
    /// Index of its block.
    pub block: usize,
    /// Part of code or a table.
    pub solid: bool,
    pub heading: bool,
}

/// Splits blocks into atoms of at most `size` characters.
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
                // White space belongs to the preceding piece.
                Some(last) => last.bytes.end = bytes.end,
                None => {
                    atoms.push(Atom { bytes, chars: chars..chars + shown, block: number, solid, heading })
                }
            }
            chars = next;
        }
    }
    atoms
}

/// The lines or the sentences of a block.
fn pieces(block: &str, solid: bool) -> Vec<&str> {
    if solid { block.split_inclusive('\n').collect() } else { sentences(block) }
}

/// Splits prose into sentences with their trailing white space. A line end is a sentence end, unless the sentence
/// plainly continues: so list items are sentences, and wrapped lines are not split.
///
/// (Unicode's own rules, in `unicode-segmentation`, take 30 KB of tables, and end a sentence with each line.)
fn sentences(prose: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    // Previous character, ignoring closing quotes and brackets; and the white space after it.
    let (mut last, mut closed, mut blank, mut line) = (' ', false, false, false);
    for (at, char) in prose.char_indices() {
        if char.is_whitespace() {
            blank = true;
            line |= char == '\n';
            continue;
        }
        let ended = matches!(last, '.' | '!' | '?' | '…');
        let closes = matches!(char, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '*' | '_');
        let border = match last {
            '。' | '！' | '？' => !closes && !matches!(char, '。' | '！' | '？'),
            _ if line => ended || closed || matches!(last, ':' | ';' | '|') || !char.is_alphanumeric(),
            _ => blank && ended && !char.is_lowercase(),
        };
        if border {
            sentences.push(&prose[start..at]);
            start = at;
        }
        if border || blank || !closes {
            last = char;
        }
        (closed, blank, line) = (closes, false, false);
    }
    sentences.push(&prose[start..]);
    sentences
}

/// Splits a piece into parts of limited size: at white space, if there is some in the second half of a part.
fn parts(mut piece: &str, size: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    while let Some((limit, _)) =
        piece.char_indices().nth(size).filter(|_| piece.trim_end().chars().nth(size).is_some())
    {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_as_readers_expect() {
        let check = |text: &str| {
            let found: Vec<_> = sentences(&text.replace('¦', "")).into_iter().map(str::to_owned).collect();
            assert_eq!(found, text.split('¦').collect::<Vec<_>>());
        };
        check("One. ¦Two! ¦Three?");
        check("It costs 3.50 euros, e.g. in Rome. ¦\"Really?\" ¦He nodded.");
        check("A line that is wrapped\nin the middle. ¦Then\nmore.");
        check("Steps:\n¦- first\n¦- second one\n  goes on\n¦- third");
        check("日本語の文。¦次の文！？¦「終わり。」¦はい");
        check("Ends. \n¦Begins");
        check("");
        check("...");
    }
}
