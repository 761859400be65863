//! Lines of a stream, within a bound of memory.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// A line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamLine {
    /// A whole line, without its line break.
    Whole(Vec<u8>),
    /// The beginning of a line that is longer than the bound.
    Cut(Vec<u8>),
}

/// Reads lines of at most `max` bytes. Its buffer grows to about twice that, and shrinks afterwards.
pub(super) struct BoundedLines<R> {
    from: R,
    max: usize,
    buffer: Vec<u8>,
    /// Bytes at the beginning of the buffer that were returned.
    taken: usize,
    /// Bytes after those that hold no line break.
    searched: usize,
    /// The rest of a cut line is being skipped.
    skips: bool,
}

impl<R: AsyncRead + Unpin> BoundedLines<R> {
    pub(super) fn new(from: R, max: usize) -> Self {
        Self { from, max, buffer: Vec::new(), taken: 0, searched: 0, skips: false }
    }

    /// The next line, or `None` at the end. The last line needs no line break. After a cut line, its rest is skipped.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read.
    pub(super) async fn next(&mut self) -> io::Result<Option<StreamLine>> {
        loop {
            let rest = &self.buffer[self.taken..];
            let end =
                rest[self.searched..].iter().position(|byte| *byte == b'\n').map(|at| self.searched + at);
            if let Some(end) = end {
                let line = &rest[..end];
                let whole = line.strip_suffix(b"\r").unwrap_or(line);
                let (skipped, is_cut) = (self.skips, whole.len() > self.max);
                let line = whole[..whole.len().min(self.max)].to_vec();
                self.taken += end + 1;
                (self.searched, self.skips) = (0, false);
                match (skipped, is_cut) {
                    (true, _) => continue,
                    (false, true) => return Ok(Some(StreamLine::Cut(line))),
                    (false, false) => return Ok(Some(StreamLine::Whole(line))),
                }
            }
            if self.skips {
                self.clear();
            } else if rest.len() > self.max {
                let line = rest[..self.max].to_vec();
                self.clear();
                self.skips = true;
                return Ok(Some(StreamLine::Cut(line)));
            } else {
                self.searched = rest.len();
            }
            if self.taken > 0 {
                self.buffer.drain(..self.taken);
                self.taken = 0;
                if self.buffer.len() <= CHUNK {
                    self.buffer.shrink_to(CHUNK * 2);
                }
            }
            self.buffer.reserve(CHUNK);
            // `read_buf` fills the spare capacity, which grows with the buffer: keep to one chunk.
            let read = (&mut self.from).take(CHUNK as u64).read_buf(&mut self.buffer).await?;
            if read == 0 {
                let last = std::mem::take(&mut self.buffer);
                self.searched = 0;
                return Ok((!last.is_empty() && !self.skips).then_some(StreamLine::Whole(last)));
            }
        }
    }

    /// Frees the memory of a long line, too.
    fn clear(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(CHUNK);
        (self.taken, self.searched) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], max: usize) -> Vec<StreamLine> {
        let mut lines = BoundedLines::new(text, max);
        let mut out = Vec::new();
        while let Some(line) = lines.next().await.expect("a readable slice") {
            out.push(line);
        }
        out
    }

    #[tokio::test]
    async fn lines_are_read_within_the_bound() {
        let whole = |text: &str| StreamLine::Whole(text.into());
        let cut = |text: &str| StreamLine::Cut(text.into());
        for (text, expected) in [
            ("", vec![]),
            ("a\n\nb\r\nc", vec![whole("a"), whole(""), whole("b"), whole("c")]),
            ("1234\n12345\nx\n", vec![whole("1234"), cut("1234"), whole("x")]),
            ("12345", vec![cut("1234")]),
        ] {
            assert_eq!(lines(text.as_bytes(), 4).await, expected, "{text:?}");
        }
    }

    #[tokio::test]
    async fn an_endless_line_takes_bounded_memory() {
        let mut lines = BoundedLines::new(tokio::io::repeat(b'x').take(1 << 30), 1 << 20);
        assert_eq!(lines.next().await.expect("a line"), Some(StreamLine::Cut(vec![b'x'; 1 << 20])));
        // The rest is skipped.
        assert_eq!(lines.next().await.expect("the end"), None);
        assert!(lines.buffer.capacity() <= 4 * CHUNK, "{}", lines.buffer.capacity());
    }
}
