//! The data of a store: everything the host knows about one call while its guest runs.

use std::{sync::Arc, time::Duration};

use loggia_facade::{Effect, Level, ScopeKey, Session};
use wasmtime::{Store, UpdateDeadline, component::ResourceTable};
use wasmtime_wasi::{
    Deterministic, HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView,
};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use crate::{
    Engine,
    capability::{Capabilities, Prepared, fs},
    limits::{Limiter, Limits},
    meter::Meter,
    output::Output,
    ticker::Running,
};

pub(crate) struct Guest {
    /// None while the surface is read: nobody asked.
    pub session: Option<Session>,
    pub output: Output,
    pub limiter: Limiter,
    /// What the policy grants of this call. Before the table, whose requests it ends.
    pub given: Prepared,
    /// What the call computes, wherever it does.
    pub meter: Arc<Meter>,
    wasi: WasiCtx,
    table: ResourceTable,
    /// Epochs pass while this lives.
    _running: Running,
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl Guest {
    /// Ends its log: with what the operator may want to change, and what was dropped.
    pub fn finish(&self) -> String {
        if let Some(text) = self.given.files.ran_into() {
            self.output.log(Level::Warn, &text);
        }
        self.output.finish()
    }

    /// Its files, for the host's functions.
    pub fn files(&mut self) -> fs::View<'_> {
        self.given.files.view(&mut self.table, &self.meter)
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.given.http.view(&mut self.table)
    }
}

/// What a store is for.
pub(crate) enum Purpose<'a> {
    /// To answer a call, with what its action may use.
    Call { session: Session, capabilities: &'a Capabilities, effect: Effect, scope: Option<ScopeKey> },
    /// To read the surface: no capabilities, time that stands still, chance that is known. The two readings are given
    /// different times and chances, so that a surface that depends on them shows.
    Describe { reading: u8 },
}

/// A fresh store for one guest. Nothing of it outlives the call, so nothing leaks from one call to the next.
pub(crate) fn store(
    engine: &Engine,
    limits: &Limits,
    meter: Arc<Meter>,
    purpose: Purpose<'_>,
) -> Store<Guest> {
    let mut wasi = WasiCtx::builder();
    let (output, session, given) = match purpose {
        Purpose::Call { session, capabilities, effect, scope } => {
            let output =
                Output::new(Some(session.clone()), limits.logs, Some(Arc::clone(&capabilities.pace)));
            let given = capabilities.prepare(&mut wasi, limits, effect, scope, &output);
            (output, Some(session), given)
        }
        Purpose::Describe { reading } => {
            without_time_or_chance(&mut wasi, reading);
            (Output::new(None, limits.logs, None), None, Prepared::default())
        }
    };
    wasi.stdout(output.stdout()).stderr(output.stderr()).max_random_size(limits.random);
    // Requests go through our own egress alone. No address is allowed anyway; so not even a socket is made.
    wasi.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
    let mut table = ResourceTable::new();
    let handles = engine.handles(limits);
    table.set_max_capacity(handles);
    let guest = Guest {
        session,
        output,
        limiter: Limiter::new(limits),
        given,
        meter: Arc::clone(&meter),
        wasi: wasi.build(),
        table,
        _running: engine.running(),
    };
    let mut store = Store::new(&engine.inner.engine, guest);
    store.limiter(|guest| &mut guest.limiter);
    store.set_hostcall_fuel(limits.host_data());
    store.set_max_component_handles(handles);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| {
        Ok(if meter.is_spent() { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
    });
    store
}

/// The clocks stand still and randomness is known, but both differ from reading to reading.
fn without_time_or_chance(wasi: &mut WasiCtxBuilder, reading: u8) {
    struct Still(Duration);
    impl HostWallClock for Still {
        fn resolution(&self) -> Duration {
            Duration::from_millis(1)
        }
        fn now(&self) -> Duration {
            self.0
        }
    }
    impl HostMonotonicClock for Still {
        fn resolution(&self) -> u64 {
            1_000_000
        }
        fn now(&self) -> u64 {
            u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
        }
    }
    let time = Duration::from_secs(1 << 30) * u32::from(reading);
    wasi.wall_clock(Still(time)).monotonic_clock(Still(time));
    wasi.secure_random(Deterministic::new(vec![reading, 0x10, 0x66, 0x1a]));
    wasi.insecure_random(Deterministic::new(vec![reading, 0x10, 0x66, 0x1a]));
    wasi.insecure_random_seed(0x10_661a + u128::from(reading));
}
