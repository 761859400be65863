//! An open file has no path of its own: the code is read. It takes memory, which mapped code shares with other hosts.

use std::{
    fs::File,
    io::{Read, Seek},
};

use wasmtime::{Engine, component::Component};

/// Reads machine code.
///
/// # Safety
///
/// The file is machine code that this host compiled.
#[allow(unsafe_code)]
pub(crate) unsafe fn load(engine: &Engine, mut code: &File) -> wasmtime::Result<Component> {
    let mut bytes = Vec::new();
    code.rewind()?;
    code.read_to_end(&mut bytes)?;
    // SAFETY: that of this function.
    unsafe { Component::deserialize(engine, bytes) }
}
