//! Stores: a fresh one for every call.

use std::{sync::Arc, time::Duration};

use loggia_facade::{CallId, Effect, ScopeKey, Session, trace::ParentSpan};
use loggia_policy::model::PluginLimits;
use wasmtime::{Store, UpdateDeadline, component::ResourceTable};
use wasmtime_wasi::{Deterministic, HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder};

use crate::{
    SandboxEngine,
    call_log::{CallLog, PluginLog},
    capability::{CallCapabilities, FacadeCapabilities, OpenedRoots, PrepareContext},
    guest::GuestState,
    limits::MemoryLimiter,
    meter::CpuMeter,
    probes::{GuestTape, StackSampler, read_stack, set_sources},
    ticker::SLICE,
    usage::UsageCounters,
};

/// Running time, in nanoseconds, before a stack is sampled.
const SHORTEST_SAMPLE: u64 = 100_000;

/// Purpose of a store.
pub(crate) enum StorePurpose<'a> {
    /// Answers a call.
    Call(CallSetup<'a>),
    /// Reads the surface: no capabilities, a stopped clock, known randomness. The two readings are given different
    /// times and randomness, so that a surface that depends on them shows.
    Describe { reading: u8 },
    /// Makes an instance for a call to come: no capabilities, and it must not ask for any.
    Prepare,
}

impl StorePurpose<'_> {
    fn sampler(&self) -> Option<Arc<dyn StackSampler>> {
        match self {
            Self::Call(call) => call.sampler.cloned(),
            Self::Describe { .. } | Self::Prepare => None,
        }
    }
}

/// A call, with what its facade's calls share.
pub(crate) struct CallSetup<'a> {
    pub id: &'a CallId,
    pub session: &'a Session,
    pub effect: Effect,
    pub scope: Option<ScopeKey>,
    pub capabilities: &'a FacadeCapabilities,
    pub log: &'a PluginLog,
    pub usage: &'a Arc<UsageCounters>,
    pub sampler: Option<&'a Arc<dyn StackSampler>>,
    pub tape: Option<Arc<dyn GuestTape>>,
    /// Span of the guest.
    pub span: &'a ParentSpan,
    pub client_roots: OpenedRoots,
}

/// Makes a store for one guest. Nothing of it outlives the call, so nothing leaks from one call to the next.
pub(crate) fn new_store(
    engine: &SandboxEngine,
    limits: &PluginLimits,
    meter: Arc<CpuMeter>,
    purpose: StorePurpose<'_>,
) -> Store<GuestState> {
    let sampler = purpose.sampler();
    let guest = new_guest(engine, limits, &meter, purpose);
    let mut store = Store::new(&engine.state.engine, guest);
    store.limiter(|guest| &mut guest.limiter);
    store.set_max_component_handles(engine.handles(limits));
    start_clocks(&mut store, limits, meter, sampler);
    store
}

/// Gives the store of a prepared instance to its call.
pub(crate) fn begin_call(
    store: &mut Store<GuestState>,
    engine: &SandboxEngine,
    limits: &PluginLimits,
    meter: Arc<CpuMeter>,
    purpose: StorePurpose<'_>,
) {
    let sampler = purpose.sampler();
    let mut guest = new_guest(engine, limits, &meter, purpose);
    // Its memories are there already.
    std::mem::swap(&mut guest.limiter, &mut store.data_mut().limiter);
    *store.data_mut() = guest;
    start_clocks(store, limits, meter, sampler);
}

/// Limits what a guest may do from now on: data that it passes to the host, and CPU time.
fn start_clocks(
    store: &mut Store<GuestState>,
    limits: &PluginLimits,
    meter: Arc<CpuMeter>,
    sampler: Option<Arc<dyn StackSampler>>,
) {
    store.set_hostcall_fuel(limits.host_data());
    // Each epoch is a sample.
    let slice = if sampler.is_some() { 1 } else { SLICE };
    store.set_epoch_deadline(slice);
    store.epoch_deadline_callback(move |store| {
        if let Some(sampler) = &sampler
            // Otherwise the epochs passed while it waited for the host.
            && meter.slice() >= SHORTEST_SAMPLE
        {
            sampler.sample(read_stack(&store));
        }
        Ok(if meter.is_spent() { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(slice) })
    });
}

/// Makes the data of a store.
fn new_guest(
    engine: &SandboxEngine,
    limits: &PluginLimits,
    meter: &Arc<CpuMeter>,
    purpose: StorePurpose<'_>,
) -> GuestState {
    let mut wasi = WasiCtx::builder();
    let (log, capabilities, usage) = match purpose {
        StorePurpose::Call(call) => {
            let log = call.log.call(call.session);
            if let Some(tape) = &call.tape {
                set_sources(&mut wasi, tape);
            }
            let capabilities = call.capabilities.prepare(
                call.session,
                call.client_roots,
                &mut PrepareContext {
                    limits,
                    call: call.id,
                    effect: call.effect,
                    scope: call.scope,
                    log: &log,
                    meter,
                    usage: call.usage,
                    span: call.span,
                    tape: call.tape.as_ref(),
                    wasi: &mut wasi,
                },
            );
            (log, capabilities, Some(Arc::clone(call.usage)))
        }
        StorePurpose::Describe { reading } => {
            fix_time_and_randomness(&mut wasi, reading);
            (CallLog::unread(limits), CallCapabilities::default(), None)
        }
        StorePurpose::Prepare => (CallLog::unread(limits), CallCapabilities::default(), None),
    };
    wasi.stdout(log.stdout()).stderr(log.stderr()).max_random_size(limits.random);
    // Requests go through our own egress alone. No address is allowed anyway; so not even a socket is made.
    wasi.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
    let mut table = ResourceTable::new();
    table.set_max_capacity(engine.handles(limits));
    GuestState {
        log,
        limiter: MemoryLimiter::new(limits),
        capabilities,
        meter: Arc::clone(meter),
        usage,
        wasi: wasi.build(),
        table,
        has_entered_host: false,
        running: Some(engine.running()),
    }
}

/// Stops the clocks and makes randomness known; both differ from reading to reading.
fn fix_time_and_randomness(wasi: &mut WasiCtxBuilder, reading: u8) {
    struct StoppedClock(Duration);
    impl HostWallClock for StoppedClock {
        fn resolution(&self) -> Duration {
            Duration::from_millis(1)
        }
        fn now(&self) -> Duration {
            self.0
        }
    }
    impl HostMonotonicClock for StoppedClock {
        fn resolution(&self) -> u64 {
            1_000_000
        }
        fn now(&self) -> u64 {
            u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
        }
    }
    let time = Duration::from_secs(1 << 30) * u32::from(reading);
    wasi.wall_clock(StoppedClock(time)).monotonic_clock(StoppedClock(time));
    wasi.secure_random(Deterministic::new(vec![reading, 0x10, 0x66, 0x1a]));
    wasi.insecure_random(Deterministic::new(vec![reading, 0x10, 0x66, 0x1a]));
    wasi.insecure_random_seed(0x10_661a + u128::from(reading));
}
