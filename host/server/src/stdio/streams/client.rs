//! Both streams of a client.

use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

/// Input and output stream of the client.
pub struct StdioStreams {
    pub(in super::super) read: Pin<Box<dyn AsyncRead + Send>>,
    pub(in super::super) write: Pin<Box<dyn AsyncWrite + Send>>,
}
