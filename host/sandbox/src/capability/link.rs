//! *Init*: WASI's functions with ours in front of them.

use wasmtime::component::Linker;
use wasmtime_wasi_http::WasiHttpView;

use super::{fs, http};

/// Links them, in the place of those that are linked already.
pub(crate) fn init<T: fs::FileView + WasiHttpView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    fs::init(linker)?;
    http::init(linker)
}
