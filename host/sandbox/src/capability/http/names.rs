//! What a guest may call a request's method and host: as short as any that can be sent. The host keeps these texts for as
//! long as the guest keeps the request, sent or not, so without a bound a call could fill the host's memory with them.
//! (wasmtime-wasi-http bounds the path itself.)

use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource},
};
use wasmtime_wasi_http::{
    WasiHttpView,
    p2::{
        bindings::http::types::{HostOutgoingRequest as _, Method},
        types::HostOutgoingRequest,
    },
};

use super::TYPES;
use crate::guest::Guest;

/// Bytes of a method. The longest that is registered has 17.
const METHOD: usize = 64;

/// Bytes of a host with its port.
const AUTHORITY: usize = 512;

type Request = Resource<HostOutgoingRequest>;

/// Puts a bound before the two functions. What is longer is malformed, as the interface says it.
pub fn init(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    let mut types = linker.instance(TYPES)?;
    types.func_wrap(
        "[method]outgoing-request.set-method",
        |mut store: StoreContextMut<'_, Guest>, (request, method): (Request, Method)| {
            let long = matches!(&method, Method::Other(name) if name.len() > METHOD);
            Ok((if long { Err(()) } else { store.data_mut().http().set_method(request, method)? },))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-authority",
        |mut store: StoreContextMut<'_, Guest>, (request, authority): (Request, Option<String>)| {
            let long = authority.as_ref().is_some_and(|authority| authority.len() > AUTHORITY);
            Ok((if long { Err(()) } else { store.data_mut().http().set_authority(request, authority)? },))
        },
    )
}
