//! Descriptors 0 and 1.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::FileTypeExt},
    pin::Pin,
};

use rustix::{
    fs::{Mode, OFlags, open},
    stdio::{dup2_stdout, stderr},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
};

use super::client::StdioStreams;

/// Takes over both, and makes descriptor 1 that of stderr.
pub(super) fn take() -> io::Result<StdioStreams> {
    let read: Pin<Box<dyn AsyncRead + Send>> = match reopened_pipe("/proc/self/fd/0", OFlags::RDONLY) {
        Some(fd) => Box::pin(pipe::Receiver::from_owned_fd(fd)?),
        None => Box::pin(tokio::io::stdin()),
    };
    let write: Pin<Box<dyn AsyncWrite + Send>> = match reopened_pipe("/proc/self/fd/1", OFlags::WRONLY) {
        Some(fd) => Box::pin(pipe::Sender::from_owned_fd(fd)?),
        None => Box::pin(tokio::fs::File::from_std(File::from(rustix::io::dup(io::stdout())?))),
    };
    dup2_stdout(stderr())?;
    Ok(StdioStreams { read, write })
}

/// Reopens a pipe. With a separate open file description, its non-blocking mode does not affect other processes. Only Linux has
/// these paths: elsewhere, threads wait for both ends.
fn reopened_pipe(path: &str, mode: OFlags) -> Option<OwnedFd> {
    let is_pipe = std::fs::metadata(path).ok()?.file_type().is_fifo();
    is_pipe.then(|| open(path, mode | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).ok())?
}
