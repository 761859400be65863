//! Opening a file without ever waiting for it.
//!
//! Opening a pipe waits for its other end, on a thread that cannot be cancelled, and a few hundred of those would end all
//! file access of the host. Checking a path before opening it is not enough, since another process, or another call, may
//! replace the file in between. So files are opened with `O_NONBLOCK`, and the opened file is checked.
//!
//! Only Linux resolves a path beneath a directory in one step. Elsewhere wasmtime-wasi does, component by component, after a
//! check.

mod how;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

pub(super) use how::OpenHow;
#[cfg(target_os = "linux")]
pub(super) use linux::open_beneath;
#[cfg(not(target_os = "linux"))]
pub(super) use other::open_beneath;
