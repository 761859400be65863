//! Ranges of lines: `10-40`, `40-` to the end, `-20` for the last 20, or `7`.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Seek},
};

use loggia_sdk::prelude::*;

/// A range of lines. Lines count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// From this line to that one, or to the end. One that ends before it begins is empty.
    Range(u64, Option<u64>),
    /// This many at the end.
    Last(u64),
}

/// The lines of a file that one answer holds.
#[derive(Debug, PartialEq)]
pub struct Piece {
    pub bytes: Vec<u8>,
    /// First and last of the lines; the last is the smaller one if there are none.
    pub first: u64,
    pub last: u64,
    /// Lines of the whole file.
    pub total: u64,
    /// First line that was requested, but did not fit.
    pub next: Option<u64>,
    /// The last line itself is incomplete.
    pub cut: bool,
}

impl Lines {
    /// Parses a range.
    ///
    /// # Errors
    ///
    /// `invalid_params`, with the accepted forms.
    pub fn parse(text: &str) -> Result<Self> {
        let number = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number > 0);
        let range = match text.trim().split_once('-') {
            None => number(text).map(|line| Self::Range(line, Some(line))),
            Some(("", last)) => number(last).map(Self::Last),
            Some((first, "")) => number(first).map(|first| Self::Range(first, None)),
            // The line before the first one is 0.
            Some((first, last)) => number(first)
                .zip(last.trim().parse().ok())
                .filter(|(first, last)| last + 1 >= *first)
                .map(|(first, last)| Self::Range(first, Some(last))),
        };
        range.ok_or_else(|| {
            Failure::invalid_params(format!("`lines` is not a range of lines: {text:?}"))
                .hint("Write 10-40, 40- (to the end), -20 (the last 20) or 7; lines count from 1.")
        })
    }

    /// First and last line in a file of this many.
    pub fn within(self, total: u64) -> (u64, u64) {
        match self {
            Self::Range(first, last) => (first, last.unwrap_or(total).min(total)),
            Self::Last(count) => (total.saturating_sub(count) + 1, total),
        }
    }
}

/// Reads these lines, as many as fit into `limit` bytes, where each line counts `extra` bytes more.
///
/// # Errors
///
/// Errors of reading.
pub fn read(mut file: &File, lines: Lines, limit: u64, extra: u64) -> io::Result<Piece> {
    let mut total = 0;
    scan(file, |number, _| total = number)?;
    file.rewind()?;
    let (first, last) = lines.within(total);
    let mut piece = Piece { bytes: Vec::new(), first, last, total, next: None, cut: false };
    // End of the last complete line, and what the limit has left.
    let (mut whole, mut left) = (0, limit);
    scan(file, |number, bytes| {
        if number < first || number > last || piece.next.is_some() {
            return;
        }
        let starts = whole == piece.bytes.len();
        let needed = bytes.len() as u64 + if starts { extra } else { 0 };
        if needed > left {
            piece.next = Some(number);
            let nothing = whole == 0;
            piece.cut = nothing;
            // Of a single line that is too long, the beginning is better than nothing.
            piece.bytes.truncate(if nothing { piece.bytes.len() } else { whole });
            if nothing {
                piece.bytes.extend_from_slice(&bytes[..(left as usize).min(bytes.len())]);
            }
            return;
        }
        left -= needed;
        piece.bytes.extend_from_slice(bytes);
        if bytes.ends_with(b"\n") {
            whole = piece.bytes.len();
        }
    })?;
    match piece.next {
        Some(next) if piece.cut => {
            (piece.last, piece.next) = (next, Some(next + 1).filter(|next| *next <= last))
        }
        Some(next) => piece.last = next - 1,
        None => {}
    }
    Ok(piece)
}

/// Visits the pieces of lines with their numbers. A long line comes in several pieces.
fn scan(file: &File, mut visit: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut number = 1;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            visit(number, piece);
            number += u64::from(piece.ends_with(b"\n"));
        }
        let length = bytes.len();
        reader.consume(length);
    }
}

/// Puts its number before each line.
pub fn numbered(text: &str, first: u64) -> String {
    let lines = (first..).zip(text.split_inclusive('\n'));
    lines.map(|(number, line)| format!("{number}\t{line}")).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn ranges_have_four_forms() {
        let check = |text, expected: Option<Lines>| assert_eq!(Lines::parse(text).ok(), expected, "{text}");
        check("7", Some(Lines::Range(7, Some(7))));
        check("10-40", Some(Lines::Range(10, Some(40))));
        check(" 10 - 40 ", Some(Lines::Range(10, Some(40))));
        check("40-", Some(Lines::Range(40, None)));
        check("-20", Some(Lines::Last(20)));
        check("5-4", Some(Lines::Range(5, Some(4))));
        check("1-0", Some(Lines::Range(1, Some(0))));
        for bad in ["", "-", "0", "0-3", "5-3", "-0", "a", "1-b", "1-2-3", "+"] {
            check(bad, None);
        }
    }

    #[test]
    fn lines_are_read_within_a_limit() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntwo\r\nthree\nfour").unwrap();
        let check = |lines: &str, limit, extra, expected: (&str, u64, u64, Option<u64>, bool)| {
            (&file).rewind().unwrap();
            let piece = read(&file, Lines::parse(lines).unwrap(), limit, extra).unwrap();
            let text = str::from_utf8(&piece.bytes).unwrap();
            assert_eq!((text, piece.first, piece.last, piece.next, piece.cut), expected, "{lines} {limit}");
            assert_eq!(piece.total, 4);
        };
        check("2-3", 100, 0, ("two\r\nthree\n", 2, 3, None, false));
        check("2", 100, 0, ("two\r\n", 2, 2, None, false));
        check("3-", 100, 0, ("three\nfour", 3, 4, None, false));
        check("-1", 100, 0, ("four", 4, 4, None, false));
        check("-9", 100, 0, ("one\ntwo\r\nthree\nfour", 1, 4, None, false));
        check("3-9", 100, 0, ("three\nfour", 3, 4, None, false));
        check("1-", 10, 0, ("one\ntwo\r\n", 1, 2, Some(3), false));
        check("1-", 9, 0, ("one\ntwo\r\n", 1, 2, Some(3), false));
        check("1-", 10, 1, ("one\n", 1, 1, Some(2), false));
        check("3-4", 3, 0, ("thr", 3, 3, Some(4), true));
        check("4", 3, 0, ("fou", 4, 4, None, true));
        check("9", 100, 0, ("", 9, 4, None, false));
    }

    #[test]
    fn a_long_line_is_cut_where_the_limit_is() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'x'; 200_000]).unwrap();
        file.write_all(b"\nend\n").unwrap();
        file.rewind().unwrap();
        let piece = read(&file, Lines::Range(1, None), 150_000, 0).unwrap();
        assert_eq!((piece.bytes.len(), piece.last, piece.next, piece.total), (150_000, 1, Some(2), 2));
    }

    #[test]
    fn numbers_precede_their_lines() {
        assert_eq!(numbered("a\n\nb", 9), "9\ta\n10\t\n11\tb");
        assert_eq!(numbered("", 1), "");
    }
}
