//! Length limits of a request's method and host. The host keeps these texts for as long as the guest keeps the request,
//! sent or not, so without a limit a call could fill the host's memory with them. (wasmtime-wasi-http limits the path
//! itself.)

use wasmtime::{
    StoreContextMut,
    component::{LinkerInstance, Resource},
};
use wasmtime_wasi_http::{
    WasiHttpView,
    p2::{
        bindings::http::types::{HostOutgoingRequest as _, Method},
        types::HostOutgoingRequest,
    },
};

/// Bytes of a method. The longest registered one has 17.
const METHOD: usize = 64;

/// Bytes of a host with its port.
const AUTHORITY: usize = 512;

type Request = Resource<HostOutgoingRequest>;

/// Puts the limits in front of the two functions. A longer text is malformed, in the interface's terms.
pub(super) fn init<T: WasiHttpView + 'static>(types: &mut LinkerInstance<'_, T>) -> wasmtime::Result<()> {
    types.func_wrap(
        "[method]outgoing-request.set-method",
        |mut store: StoreContextMut<'_, T>, (request, method): (Request, Method)| {
            let is_long = matches!(&method, Method::Other(name) if name.len() > METHOD);
            Ok((if is_long { Err(()) } else { store.data_mut().http().set_method(request, method)? },))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-authority",
        |mut store: StoreContextMut<'_, T>, (request, authority): (Request, Option<String>)| {
            let is_long = authority.as_ref().is_some_and(|authority| authority.len() > AUTHORITY);
            Ok((if is_long { Err(()) } else { store.data_mut().http().set_authority(request, authority)? },))
        },
    )
}
