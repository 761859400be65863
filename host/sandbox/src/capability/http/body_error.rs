//! The error code of a response body that breaks off.
//!
//! wasmtime-wasi-http stores the error of a body as another type than its own `http-error-code` looks for (seen in 48.0.8),
//! so a guest would learn of neither a timeout nor a size limit.

use wasmtime::{
    StoreContextMut,
    component::{LinkerInstance, Resource},
};
use wasmtime_wasi_http::{
    Error, WasiHttpView,
    p2::bindings::http::types::{ErrorCode, IoError},
};

/// Replaces `http-error-code` by our own function.
pub(super) fn init<T: WasiHttpView + 'static>(types: &mut LinkerInstance<'_, T>) -> wasmtime::Result<()> {
    types.func_wrap("http-error-code", |mut store: StoreContextMut<'_, T>, (error,): (Resource<IoError>,)| {
        let error = store.data_mut().http().table.get(&error)?;
        let code = error.downcast_ref::<ErrorCode>().cloned();
        Ok((code.or_else(|| body_error_code(error.downcast_ref()?)),))
    })
}

/// Converts an error of a response's body: one of those that `report` makes.
fn body_error_code(error: &Error) -> Option<ErrorCode> {
    Some(match error {
        Error::HttpResponseTimeout => ErrorCode::HttpResponseTimeout,
        Error::ConnectionReadTimeout => ErrorCode::ConnectionReadTimeout,
        Error::HttpResponseBodySize(size) => ErrorCode::HttpResponseBodySize(*size),
        Error::HttpResponseIncomplete => ErrorCode::HttpResponseIncomplete,
        Error::ConnectionTerminated => ErrorCode::ConnectionTerminated,
        Error::InternalError(reason) => ErrorCode::InternalError(reason.clone()),
        _ => return None,
    })
}
