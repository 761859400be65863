//! *Init* of `wasi:http`.

use wasmtime::component::Linker;
use wasmtime_wasi_http::WasiHttpView;

use super::{body_error, names};

/// The interface with types, as wasmtime-wasi-http links it. Some of its functions have our own in their place.
const TYPES: &str = "wasi:http/types@0.2.12";

/// Links `wasi:http`.
pub(in crate::capability) fn init<T: WasiHttpView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    let mut types = linker.instance(TYPES)?;
    names::init(&mut types)?;
    body_error::init(&mut types)
}
