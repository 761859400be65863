//! The path of the open file itself: the code is mapped.

use std::{fs::File, os::fd::AsRawFd};

use wasmtime::{Engine, component::Component};

/// Maps machine code.
///
/// # Safety
///
/// The file is machine code that this host compiled, and does not change while the component lives.
#[allow(unsafe_code)]
pub(crate) unsafe fn load(engine: &Engine, code: &File) -> wasmtime::Result<Component> {
    let path = format!("/proc/self/fd/{}", code.as_raw_fd());
    // SAFETY: that of this function.
    unsafe { Component::deserialize_file(engine, path) }
}
