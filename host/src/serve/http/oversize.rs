//! A head that is too large: hyper refuses it by its status alone, before there is a request that could be answered. What it
//! writes then is replaced by an answer that says how large a head may be.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use loggia_text::units::bytes_text;
use tokio::io::AsyncWrite;

/// Headers of a request at most, as hyper has it.
const HEADERS: usize = 100;
/// What hyper writes begins so.
const REFUSAL: &[u8] = b"HTTP/1.1 431 ";

/// Replaces what hyper writes of a head that is too large.
#[derive(Debug)]
pub struct HeadRefusal {
    /// Bytes of the largest head.
    most: usize,
    /// What is left to be written, once there is something.
    left: Option<Vec<u8>>,
}

impl HeadRefusal {
    /// For heads of so many bytes.
    pub fn new(most: usize) -> Self {
        Self { most, left: None }
    }

    /// Whether these bytes, which were not written by us, are such a refusal.
    pub fn replaces(&self, bytes: &[u8]) -> bool {
        self.left.is_some() || bytes.starts_with(REFUSAL)
    }

    /// Writes the answer; ready once all of it is written.
    pub fn poll_write<S: AsyncWrite>(
        &mut self,
        mut stream: Pin<&mut S>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.left.get_or_insert_with(|| render_refusal(self.most));
        while !left.is_empty() {
            let written = ready!(stream.as_mut().poll_write(cx, left))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            left.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

fn render_refusal(most: usize) -> Vec<u8> {
    let said = format!(
        "the head of a request may have {} and {HEADERS} headers at most; the operator can change its size by `http.head`\n",
        bytes_text(most as u64)
    );
    format!(
        "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{said}",
        said.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_named() {
        let answer = String::from_utf8(render_refusal(32 << 10)).unwrap();
        assert!(answer.as_bytes().starts_with(REFUSAL));
        assert!(answer.contains("32KiB and 100 headers") && answer.contains("`http.head`"), "{answer}");
    }
}
