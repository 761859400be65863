//! A file's streams: counted, and read and written on threads that may block, at the call's expense.

use std::{fs::File, io, mem::replace, os::unix::fs::FileExt, sync::Arc};

use bytes::Bytes;
use rustix::io::{Errno, ReadWriteFlags, pwritev2};
use wasmtime_wasi::{
    p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult},
    runtime::AbortOnDropJoinHandle as Working,
};

use super::held::{Budget, Open};
use crate::meter::Meter;

/// Bytes that are read or written at once, at most.
const PIECE: usize = 64 << 10;
/// Bytes that are read when the guest waits before it says how many it wants.
const AHEAD: usize = 4 << 10;

/// The error of a stream that may not be written any more.
#[derive(Debug, thiserror::Error)]
#[error("a call may not write more to files")]
pub struct Spent;

/// A file being read: it counts as open for as long as this lives.
pub struct Reads {
    file: Arc<File>,
    at: u64,
    meter: Arc<Meter>,
    state: Reading,
    _place: Option<Arc<Open>>,
}

enum Reading {
    Idle,
    Waiting(Working<io::Result<Bytes>>),
    Data(Bytes),
    Failed(io::Error),
    Closed,
}

impl Reads {
    pub fn new(file: Arc<File>, at: u64, meter: Arc<Meter>, place: Option<Arc<Open>>) -> Self {
        Self { file, at, meter, state: Reading::Idle, _place: place }
    }

    /// Begins to read, unless something is there already or on its way.
    fn begin(&mut self, size: usize) {
        if matches!(self.state, Reading::Idle) {
            let (file, at) = (Arc::clone(&self.file), self.at);
            self.state = Reading::Waiting(self.meter.away(move || piece(&file, at, size.min(PIECE))));
        }
    }

    async fn arrived(&mut self) {
        if let Reading::Waiting(working) = &mut self.state {
            self.state = match working.await {
                Ok(bytes) if bytes.is_empty() => Reading::Closed,
                Ok(bytes) => Reading::Data(bytes),
                Err(error) => Reading::Failed(error),
            };
        }
    }
}

fn piece(file: &File, at: u64, size: usize) -> io::Result<Bytes> {
    let mut bytes = vec![0; size];
    loop {
        match file.read_at(&mut bytes, at) {
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
impl Pollable for Reads {
    async fn ready(&mut self) {
        self.begin(AHEAD);
        self.arrived().await;
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for Reads {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size > 0 {
            self.begin(size);
        }
        match &mut self.state {
            Reading::Idle | Reading::Waiting(_) => Ok(Bytes::new()),
            Reading::Data(bytes) => {
                let taken = bytes.split_to(bytes.len().min(size));
                if bytes.is_empty() {
                    self.state = Reading::Idle;
                }
                self.at += taken.len() as u64;
                Ok(taken)
            }
            Reading::Closed => Err(StreamError::Closed),
            Reading::Failed(_) => Err(match replace(&mut self.state, Reading::Closed) {
                Reading::Failed(error) => StreamError::LastOperationFailed(error.into()),
                _ => StreamError::Closed,
            }),
        }
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size > 0 {
            self.begin(size);
            self.arrived().await;
        }
        self.read(size)
    }

    /// Waits for what is under way: a guest must not have more threads work for it than it has streams.
    async fn cancel(&mut self) {
        if let Reading::Waiting(working) = replace(&mut self.state, Reading::Closed) {
            working.cancel().await;
        }
    }
}

/// Where a stream writes.
#[derive(Clone, Copy)]
pub enum Target {
    At(u64),
    End,
}

/// A file being written.
pub struct Writes {
    file: Arc<File>,
    target: Target,
    budget: Arc<Budget>,
    meter: Arc<Meter>,
    state: Writing,
    _place: Option<Arc<Open>>,
}

enum Writing {
    Ready,
    Waiting(Working<wasmtime::Result<u64>>),
    Failed(wasmtime::Error),
    Closed,
}

impl Writes {
    pub fn new(
        file: Arc<File>,
        target: Target,
        budget: Arc<Budget>,
        meter: Arc<Meter>,
        place: Option<Arc<Open>>,
    ) -> Self {
        Self { file, target, budget, meter, state: Writing::Ready, _place: place }
    }
}

/// Writes all of it; how many bytes that were. What lies between the file's end and its place was not counted yet.
fn write(file: &File, bytes: &[u8], target: Target, budget: &Budget) -> wasmtime::Result<u64> {
    match target {
        Target::At(at) => {
            budget.take_hole(file.metadata()?.len(), at).map_err(|_| Spent)?;
            file.write_all_at(bytes, at)?;
        }
        Target::End => append(file, bytes)?,
    }
    Ok(bytes.len() as u64)
}

fn append(file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = match pwritev2(file, &[io::IoSlice::new(bytes)], 0, ReadWriteFlags::APPEND) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => written,
            Err(Errno::INTR) => 0,
            // Not every file system knows how: then two that append at once may overwrite each other.
            Err(Errno::NOSYS | Errno::NOTSUP) => return file.write_all_at(bytes, file.metadata()?.len()),
            Err(error) => return Err(error.into()),
        };
        bytes = &bytes[written..];
    }
    Ok(())
}

#[wasmtime_wasi::async_trait]
impl Pollable for Writes {
    async fn ready(&mut self) {
        if let Writing::Waiting(working) = &mut self.state {
            self.state = match working.await {
                Ok(written) => {
                    if let Target::At(at) = &mut self.target {
                        *at += written;
                    }
                    Writing::Ready
                }
                Err(error) => Writing::Failed(error),
            };
        }
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Writes {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        match self.state {
            Writing::Ready => {}
            Writing::Closed => return Err(StreamError::Closed),
            Writing::Waiting(_) | Writing::Failed(_) => {
                return Err(StreamError::trap("write not permitted: check_write not called first"));
            }
        }
        if self.budget.take(bytes.len() as u64).is_err() {
            return Err(StreamError::LastOperationFailed(Spent.into()));
        }
        let (file, target, budget) = (Arc::clone(&self.file), self.target, Arc::clone(&self.budget));
        self.state = Writing::Waiting(self.meter.away(move || write(&file, &bytes, target, &budget)));
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.check_write().map(drop)
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        match self.state {
            Writing::Ready => Ok(PIECE),
            Writing::Waiting(_) => Ok(0),
            Writing::Closed => Err(StreamError::Closed),
            Writing::Failed(_) => Err(match replace(&mut self.state, Writing::Closed) {
                Writing::Failed(error) => StreamError::LastOperationFailed(error),
                _ => StreamError::Closed,
            }),
        }
    }

    async fn cancel(&mut self) {
        if let Writing::Waiting(working) = replace(&mut self.state, Writing::Closed) {
            working.cancel().await;
        }
    }
}
