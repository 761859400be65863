//! Requests of one call.

use std::sync::Arc;

use loggia_egress::{CallerKey, EgressClient, EgressMode, HttpTapes};
use loggia_facade::{Effect, trace::ParentSpan};
use wasmtime::component::ResourceTable;
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView};

use super::hooks::{CallSource, SendHooks};
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
    /// Answers or keeps the requests of calls, if anything does.
    tapes: Option<Arc<dyn HttpTapes>>,
    /// Name of the facade, for messages.
    facade: Arc<str>,
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
        if grants.rules.is_empty() {
            return Ok(None);
        }
        let mut client = EgressClient::setup(grants.clone(), context.limits.http());
        if let Some(credentials) = &context.credentials {
            client = client.credentials(Arc::clone(credentials));
        }
        Ok(Some(Self {
            client: client.build(),
            tapes: context.probes.http.clone(),
            facade: context.name.into(),
        }))
    }

    fn prepare(&self, context: &mut PrepareContext<'_>) -> HttpAccess {
        let mode = if context.effect == Effect::Read { EgressMode::Reads } else { EgressMode::Writes };
        let caller = context.scope.as_ref().map(|scope| CallerKey(scope.0));
        let tape = self.tapes.as_ref().and_then(|tapes| tapes.tape(&context.call.0));
        let egress =
            CallSource { client: self.client.clone(), caller, mode, tape, facade: self.facade.clone() };
        HttpAccess::new(Some(egress), context.log, context.usage, context.span)
    }
}

impl HttpAccess {
    /// Refuses all requests without an egress; logs and counts refusals.
    pub(crate) fn new(
        egress: Option<CallSource>,
        log: &CallLog,
        usage: &Arc<UsageCounters>,
        span: &ParentSpan,
    ) -> Self {
        let mut wasi = WasiHttpCtx::new();
        wasi.set_field_size_limit(FIELDS);
        Self { wasi, hooks: SendHooks::new(egress, log, usage, span) }
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
