//! A file's streams, counted.

use std::sync::Arc;

use bytes::Bytes;
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, InputStream, OutputStream, Pollable, StreamError, StreamResult,
};

use super::held::{Budget, Full, Open};

/// The error of a stream that may not be written any more.
#[derive(Debug, thiserror::Error)]
#[error("a call may not write more to files")]
pub struct Spent;

/// A file being read: it counts as open for as long as this lives.
pub struct Reads {
    pub stream: DynInputStream,
    pub _place: Option<Arc<Open>>,
}

/// A file being written.
pub struct Writes {
    pub stream: DynOutputStream,
    pub budget: Arc<Budget>,
    pub _place: Option<Arc<Open>>,
}

#[wasmtime_wasi::async_trait]
impl Pollable for Reads {
    async fn ready(&mut self) {
        self.stream.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for Reads {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.stream.read(size)
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.stream.blocking_read(size).await
    }

    fn skip(&mut self, count: usize) -> StreamResult<usize> {
        self.stream.skip(count)
    }

    async fn blocking_skip(&mut self, count: usize) -> StreamResult<usize> {
        self.stream.blocking_skip(count).await
    }

    async fn cancel(&mut self) {
        self.stream.cancel().await;
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Writes {
    async fn ready(&mut self) {
        self.stream.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Writes {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        match self.budget.take(bytes.len() as u64) {
            Ok(()) => self.stream.write(bytes),
            Err(Full::Written | Full::Open | Full::Listed) => {
                Err(StreamError::LastOperationFailed(Spent.into()))
            }
        }
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.stream.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.stream.check_write()
    }

    async fn cancel(&mut self) {
        self.stream.cancel().await;
    }
}
