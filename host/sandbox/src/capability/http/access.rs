//! Requests of one call.

use loggia_egress::{EgressClient, EgressMode};
use loggia_facade::Effect;
use wasmtime::component::ResourceTable;
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView};

use super::hooks::SendHooks;
use crate::{
    LoadError,
    capability::phases::{Capability, ConfigureContext, PrepareContext},
};

/// Bytes of the headers of a request or response, as they are held in memory.
const FIELDS: usize = 64 << 10;

/// The client that all calls of a facade send through; none where nothing is granted.
pub(crate) struct HttpCapability {
    client: Option<EgressClient>,
}

/// Requests of one call.
#[derive(Default)]
pub(crate) struct HttpAccess {
    wasi: WasiHttpCtx,
    hooks: SendHooks,
}

impl Capability for HttpCapability {
    type CallState = HttpAccess;

    fn configure(context: &ConfigureContext<'_>) -> Result<Self, LoadError> {
        let grants = &context.grants.http;
        let client =
            (!grants.rules.is_empty()).then(|| EgressClient::new(grants.clone(), context.limits.http.clone()));
        Ok(Self { client })
    }

    fn prepare(&self, context: &mut PrepareContext<'_>) -> HttpAccess {
        let mut wasi = WasiHttpCtx::new();
        wasi.set_field_size_limit(FIELDS);
        let mode = if context.effect == Effect::Read { EgressMode::Reads } else { EgressMode::Writes };
        let egress = self.client.as_ref().map(|client| (client.clone(), mode));
        HttpAccess { wasi, hooks: SendHooks::new(egress, context.log, context.usage) }
    }
}

impl HttpAccess {
    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        WasiHttpCtxView { hooks: &mut self.hooks, table, ctx: &mut self.wasi }
    }

    /// Explains the last request that failed with this code: the guest sees one error of a list, and neither the grant
    /// that is missing nor the limit that it exceeded.
    pub(crate) fn explain_failure(&self, code: &str) -> Option<String> {
        self.hooks.explain_failure(code)
    }
}
