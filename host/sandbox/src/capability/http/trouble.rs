//! What a guest is told when the body of a response breaks off.
//!
//! wasmtime-wasi-http keeps what went wrong with a body as another type than the one that its own `http-error-code` looks
//! for (seen in 48.0.8), so that a guest would be told of neither a time nor a size that ran out.

use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource},
};
use wasmtime_wasi_http::{
    Error, WasiHttpView,
    p2::bindings::http::types::{ErrorCode, IoError},
};

use super::TYPES;
use crate::guest::Guest;

/// Puts our own function in the place of `http-error-code`.
pub fn init(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.instance(TYPES)?.func_wrap(
        "http-error-code",
        |mut store: StoreContextMut<'_, Guest>, (error,): (Resource<IoError>,)| {
            let error = store.data_mut().http().table.get(&error)?;
            let code = error.downcast_ref::<ErrorCode>().cloned();
            Ok((code.or_else(|| of_body(error.downcast_ref()?)),))
        },
    )
}

/// What can go wrong with a response's body, in WASI's words: see [`told`](super::told).
fn of_body(error: &Error) -> Option<ErrorCode> {
    Some(match error {
        Error::HttpResponseTimeout => ErrorCode::HttpResponseTimeout,
        Error::ConnectionReadTimeout => ErrorCode::ConnectionReadTimeout,
        Error::HttpResponseBodySize(size) => ErrorCode::HttpResponseBodySize(*size),
        Error::HttpResponseIncomplete => ErrorCode::HttpResponseIncomplete,
        Error::ConnectionTerminated => ErrorCode::ConnectionTerminated,
        Error::InternalError(why) => ErrorCode::InternalError(why.clone()),
        _ => return None,
    })
}
