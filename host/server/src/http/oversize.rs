//! Oversized headers. hyper refuses them with a bare 431 before there is a request to respond to. Its output is replaced by a
//! response that states the limit.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use loggia_text::units::format_bytes;
use tokio::io::AsyncWrite;

/// hyper's limit of headers per request.
const HEADERS: usize = 100;
/// Beginning of hyper's refusal.
const REFUSAL: &[u8] = b"HTTP/1.1 431 ";

/// Replaces hyper's refusal of oversized headers.
#[derive(Debug)]
pub struct HeadRefusal {
    /// Maximum size of the headers in bytes.
    limit: usize,
    /// Rest of the response, once writing has started.
    left: Option<Vec<u8>>,
}

impl HeadRefusal {
    /// Creates the replacement for this limit.
    pub fn new(limit: usize) -> Self {
        Self { limit, left: None }
    }

    /// Returns true if these bytes of hyper are its refusal.
    pub fn replaces(&self, bytes: &[u8]) -> bool {
        self.left.is_some() || bytes.starts_with(REFUSAL)
    }

    /// Writes the response; ready once all of it is written.
    pub fn poll_write<S: AsyncWrite>(
        &mut self,
        mut stream: Pin<&mut S>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.left.get_or_insert_with(|| render_refusal(self.limit));
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

fn render_refusal(limit: usize) -> Vec<u8> {
    let message = format!(
        "a request may have {} and {HEADERS} headers at most; the operator can change the size by `http.head`\n",
        format_bytes(limit as u64)
    );
    format!(
        "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{message}",
        message.len()
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
