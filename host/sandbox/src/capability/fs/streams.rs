//! Streams of a file: counted, and read and written on threads that may block, at the call's expense.

use std::{fs::File, io, mem::replace, sync::Arc};

use bytes::Bytes;
use wasmtime_wasi::{
    p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult},
    runtime::AbortOnDropJoinHandle as Working,
};

use super::{
    position::{append, read_at, write_all_at},
    quota::{OpenSlot, WriteBudget},
};
use crate::meter::CpuMeter;

/// Bytes that are read or written at once, at most.
const PIECE: usize = 64 << 10;
/// Bytes that are read ahead when the guest waits before it asks for a number of bytes.
const AHEAD: usize = 4 << 10;

/// Error of a stream after the limit of written bytes.
#[derive(Debug, thiserror::Error)]
#[error("a call may not write more to files")]
pub(super) struct WriteLimitExceeded;

/// A file being read. It counts as open for as long as this lives.
pub(super) struct ReadStream {
    file: Arc<File>,
    at: u64,
    meter: Arc<CpuMeter>,
    state: ReadState,
    _slot: Option<Arc<OpenSlot>>,
}

enum ReadState {
    Idle,
    Waiting(Working<io::Result<Bytes>>),
    Data(Bytes),
    Failed(io::Error),
    Closed,
}

impl ReadStream {
    pub(super) fn new(file: Arc<File>, at: u64, meter: Arc<CpuMeter>, slot: Option<Arc<OpenSlot>>) -> Self {
        Self { file, at, meter, state: ReadState::Idle, _slot: slot }
    }

    /// Starts a read, unless data is available or on its way.
    fn begin(&mut self, size: usize) {
        if matches!(self.state, ReadState::Idle) {
            let (file, at) = (Arc::clone(&self.file), self.at);
            self.state =
                ReadState::Waiting(self.meter.run_blocking(move || read_piece(&file, at, size.min(PIECE))));
        }
    }

    async fn finish_read(&mut self) {
        if let ReadState::Waiting(working) = &mut self.state {
            self.state = match working.await {
                Ok(bytes) if bytes.is_empty() => ReadState::Closed,
                Ok(bytes) => ReadState::Data(bytes),
                Err(error) => ReadState::Failed(error),
            };
        }
    }
}

fn read_piece(file: &File, at: u64, size: usize) -> io::Result<Bytes> {
    let mut bytes = vec![0; size];
    loop {
        match read_at(file, &mut bytes, at) {
            Ok(read) => {
                bytes.truncate(read);
                return Ok(bytes.into());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for ReadStream {
    async fn ready(&mut self) {
        self.begin(AHEAD);
        self.finish_read().await;
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for ReadStream {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size > 0 {
            self.begin(size);
        }
        match &mut self.state {
            ReadState::Idle | ReadState::Waiting(_) => Ok(Bytes::new()),
            ReadState::Data(bytes) => {
                let taken = bytes.split_to(bytes.len().min(size));
                if bytes.is_empty() {
                    self.state = ReadState::Idle;
                }
                self.at += taken.len() as u64;
                Ok(taken)
            }
            ReadState::Closed => Err(StreamError::Closed),
            ReadState::Failed(_) => Err(match replace(&mut self.state, ReadState::Closed) {
                ReadState::Failed(error) => StreamError::LastOperationFailed(error.into()),
                _ => StreamError::Closed,
            }),
        }
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size > 0 {
            self.begin(size);
            self.finish_read().await;
        }
        self.read(size)
    }

    /// Waits for the read under way: a guest must not occupy more threads than it has streams.
    async fn cancel(&mut self) {
        if let ReadState::Waiting(working) = replace(&mut self.state, ReadState::Closed) {
            working.cancel().await;
        }
    }
}

/// Position at which a stream writes.
#[derive(Clone, Copy)]
pub(super) enum WriteTarget {
    At(u64),
    End,
}

/// A file being written.
pub(super) struct WriteStream {
    file: Arc<File>,
    target: WriteTarget,
    budget: Arc<WriteBudget>,
    meter: Arc<CpuMeter>,
    state: WriteState,
    _slot: Option<Arc<OpenSlot>>,
}

enum WriteState {
    Ready,
    Waiting(Working<wasmtime::Result<u64>>),
    Failed(wasmtime::Error),
    Closed,
}

impl WriteStream {
    pub(super) fn new(
        file: Arc<File>,
        target: WriteTarget,
        budget: Arc<WriteBudget>,
        meter: Arc<CpuMeter>,
        slot: Option<Arc<OpenSlot>>,
    ) -> Self {
        Self { file, target, budget, meter, state: WriteState::Ready, _slot: slot }
    }
}

/// Writes all bytes and returns their number. Charges the hole before them; the bytes themselves are charged already.
fn write(file: &File, bytes: &[u8], target: WriteTarget, budget: &WriteBudget) -> wasmtime::Result<u64> {
    match target {
        WriteTarget::At(at) => {
            budget.take_hole(file.metadata()?.len(), at).map_err(|_| WriteLimitExceeded)?;
            write_all_at(file, bytes, at)?;
        }
        WriteTarget::End => append(file, bytes)?,
    }
    Ok(bytes.len() as u64)
}

#[wasmtime_wasi::async_trait]
impl Pollable for WriteStream {
    async fn ready(&mut self) {
        if let WriteState::Waiting(working) = &mut self.state {
            self.state = match working.await {
                Ok(written) => {
                    if let WriteTarget::At(at) = &mut self.target {
                        *at += written;
                    }
                    WriteState::Ready
                }
                Err(error) => WriteState::Failed(error),
            };
        }
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for WriteStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        match self.state {
            WriteState::Ready => {}
            WriteState::Closed => return Err(StreamError::Closed),
            WriteState::Waiting(_) | WriteState::Failed(_) => {
                return Err(StreamError::trap("write not permitted: check_write not called first"));
            }
        }
        if self.budget.take(bytes.len() as u64).is_err() {
            return Err(StreamError::LastOperationFailed(WriteLimitExceeded.into()));
        }
        let (file, target, budget) = (Arc::clone(&self.file), self.target, Arc::clone(&self.budget));
        self.state =
            WriteState::Waiting(self.meter.run_blocking(move || write(&file, &bytes, target, &budget)));
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.check_write().map(drop)
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        match self.state {
            WriteState::Ready => Ok(PIECE),
            WriteState::Waiting(_) => Ok(0),
            WriteState::Closed => Err(StreamError::Closed),
            WriteState::Failed(_) => Err(match replace(&mut self.state, WriteState::Closed) {
                WriteState::Failed(error) => StreamError::LastOperationFailed(error),
                _ => StreamError::Closed,
            }),
        }
    }

    async fn cancel(&mut self) {
        if let WriteState::Waiting(working) = replace(&mut self.state, WriteState::Closed) {
            working.cancel().await;
        }
    }
}
