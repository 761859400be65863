//! Standard streams, taken over for the protocol.

use std::io;

mod client;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use client::StdioStreams;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Takes over stdout for the protocol. From here on, other writes to stdout go to stderr, and no child process can inherit the
/// protocol's stream.
///
/// Must be called on a runtime, before anything prints.
///
/// # Errors
///
/// If the streams cannot be duplicated.
pub fn take() -> io::Result<StdioStreams> {
    system::take()
}
