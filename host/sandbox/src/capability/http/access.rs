//! Requests of one call.

use std::sync::Arc;

use loggia_egress::{EgressClient, EgressMode};
use loggia_facade::Effect;
use wasmtime::component::ResourceTable;
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView};

use super::hooks::SendHooks;
use crate::{
    LoadError,
    call_log::CallLog,
    capability::phases::{Capability, ConfigureContext, PrepareContext},
    usage::UsageCounters,
};

/// Bytes of the headers of a request or response, as they are held in memory.
const FIELDS: usize = 64 << 10;

/// The client that all calls of a facade send through.
pub(crate) struct HttpCapability {
    client: EgressClient,
}

/// Requests of one call. The default refuses them.
#[derive(Default)]
pub(crate) struct HttpAccess {
    wasi: WasiHttpCtx,
    hooks: SendHooks,
}

impl Capability for HttpCapability {
    type CallState = HttpAccess;

    fn configure(context: &ConfigureContext<'_>) -> Result<Option<Self>, LoadError> {
        let grants = &context.grants.http;
        let client = || EgressClient::new(grants.clone(), context.limits.http.clone());
        Ok((!grants.rules.is_empty()).then(|| Self { client: client() }))
    }

    fn prepare(&self, context: &mut PrepareContext<'_>) -> HttpAccess {
        let mode = if context.effect == Effect::Read { EgressMode::Reads } else { EgressMode::Writes };
        HttpAccess::new(Some((self.client.clone(), mode)), context.log, context.usage)
    }
}

impl HttpAccess {
    /// Refuses all requests without an egress; logs and counts refusals.
    pub(crate) fn new(
        egress: Option<(EgressClient, EgressMode)>,
        log: &CallLog,
        usage: &Arc<UsageCounters>,
    ) -> Self {
        let mut wasi = WasiHttpCtx::new();
        wasi.set_field_size_limit(FIELDS);
        Self { wasi, hooks: SendHooks::new(egress, log, usage) }
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        WasiHttpCtxView { hooks: &mut self.hooks, table, ctx: &mut self.wasi }
    }

    /// Explains the last request that failed with this code: the guest sees one error of a list, and neither the grant
    /// that is missing nor the limit that it exceeded.
    pub(crate) fn explain_failure(&self, code: &str) -> Option<String> {
        self.hooks.explain_failure(code)
    }
}
