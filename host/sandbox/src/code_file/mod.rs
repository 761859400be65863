//! Machine code from an open file: wasmtime takes a path, which may lead elsewhere by now.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(crate) use linux::load;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::load;
