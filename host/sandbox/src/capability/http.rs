//! Requests over HTTP: `wasi:http` in front of our own egress.

use std::future::Future;

use loggia_facade::{Effect, Level};
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks};

use crate::{guest::Guest, limits::Limits, output::Output};

/// Links `wasi:http`.
pub(super) fn init(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)
}

type Sent = Result<(http::Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>), Error>;

/// What all calls of a facade send through; none where nothing is granted.
pub(super) fn configure(_grants: &loggia_egress::Grants, _limits: &Limits) -> Option<loggia_egress::Client> {
    None
}

/// What one call may send.
#[derive(Default)]
pub(crate) struct Http {
    wasi: WasiHttpCtx,
    hooks: Hooks,
}

#[derive(Default)]
struct Hooks {
    /// Of a call, for what the operator should know.
    output: Option<Output>,
}

impl Http {
    pub(super) fn prepare(_client: Option<&loggia_egress::Client>, _effect: Effect, output: &Output) -> Self {
        let mut wasi = WasiHttpCtx::new();
        wasi.set_field_size_limit(FIELDS);
        Self { wasi, hooks: Hooks { output: Some(output.clone()) } }
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        WasiHttpCtxView { hooks: &mut self.hooks, table, ctx: &mut self.wasi }
    }
}

/// Bytes of the headers of a request or response, as they are held in memory.
const FIELDS: usize = 64 << 10;

impl WasiHttpHooks for Hooks {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        _options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        if let Some(output) = &self.output {
            output.log(Level::Warn, "denied");
        }
        Box::new(async move {
            let _held = request;
            Err(Error::HttpRequestDenied)
        })
    }
}
