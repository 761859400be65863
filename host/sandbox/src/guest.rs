//! The data of a store: everything the host knows about one call while its guest runs.

use std::sync::Arc;

use loggia_facade::LogLevel;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use crate::{
    call_log::CallLog,
    capability::{CallCapabilities, FileView, FsView},
    limits::MemoryLimiter,
    meter::CpuMeter,
    ticker::RunningGuard,
    usage::UsageCounters,
};

pub(crate) struct GuestState {
    pub log: CallLog,
    pub limiter: MemoryLimiter,
    /// Before the table, so that requests end before the table drops them one by one.
    pub capabilities: CallCapabilities,
    /// CPU time of the call, on whatever thread.
    pub meter: Arc<CpuMeter>,
    /// Counters of the facade; none while its surface is read.
    pub usage: Option<Arc<UsageCounters>>,
    pub wasi: WasiCtx,
    pub table: ResourceTable,
    /// Set once the guest has called an import.
    pub has_entered_host: bool,
    /// Epochs pass while this lives. `None` while an instance waits for its call.
    pub running: Option<RunningGuard>,
}

impl GuestState {
    /// Begins a call of an import.
    pub(crate) fn enter(&mut self) -> &mut Self {
        self.has_entered_host = true;
        self
    }

    /// Ends what belongs to the call and reaches outside: files, requests, the session. What is left is memory.
    pub(crate) fn leave_call(&mut self) {
        self.capabilities = CallCapabilities::default();
        self.table = ResourceTable::new();
        self.log.leave_call();
        self.running = None;
    }

    /// Ends the call's log: adds an exceeded limit that the operator may want to raise and what was dropped. Returns the end
    /// of stderr.
    pub(crate) fn finish_log(&self) -> String {
        if let Some(text) = self.capabilities.exceeded_limit() {
            self.log.log(LogLevel::Warn, &text);
        }
        self.log.finish()
    }
}

impl WasiView for GuestState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.has_entered_host = true;
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for GuestState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.has_entered_host = true;
        self.capabilities.http(&self.log, self.usage.as_ref()).view(&mut self.table)
    }
}

impl FileView for GuestState {
    fn files(&mut self) -> FsView<'_> {
        self.has_entered_host = true;
        self.capabilities.files().view(&mut self.table, &self.meter)
    }
}
