//! What stands beside the calls of facades: for tests, recordings and profiles.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use loggia_egress::HttpTapes;
use loggia_state::StateChange;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use wasmtime::{AsContext, WasmBacktrace};
use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

use crate::space::SpaceChoice;

/// What stands beside calls. By default nothing.
#[derive(Debug, Clone, Default)]
pub struct CallProbes {
    /// Answers or keeps requests.
    pub http: Option<Arc<dyn HttpTapes>>,
    /// Keeps what guests read of their state, of the time and of randomness, and write, or sets it.
    pub guests: Option<Arc<dyn GuestTapes>>,
    /// Takes the stacks of running guests.
    pub stacks: Option<Arc<dyn StackSampler>>,
}

/// The tapes of guests.
pub trait GuestTapes: fmt::Debug + Send + Sync + 'static {
    /// Returns the tape of the call with this id; `None`: nothing is kept of it.
    fn tape(&self, call: &str) -> Option<Arc<dyn GuestTape>>;
}

/// Keeps what the guest of one call reads and writes. Must not block.
pub trait GuestTape: fmt::Debug + Send + Sync + 'static {
    /// Keeps a value of the state that was read; `None`: there is none.
    fn keep_value(&self, space: SpaceChoice, key: &str, value: Option<&[u8]>);
    /// Keeps changes of the state that were committed.
    fn keep_changes(&self, space: SpaceChoice, changes: &[StateChange]);
    /// Returns what the wall clock shows, since 1970, when it is this time.
    fn read_clock(&self, now: Duration) -> Duration;
    /// Returns the seed of the call's randomness: 256 secret bits.
    fn seed(&self) -> [u8; 32];
}

/// Gives a guest the clock and the randomness of its tape. The monotonic clock is the host's.
pub(crate) fn set_sources(wasi: &mut WasiCtxBuilder, tape: &Arc<dyn GuestTape>) {
    let mut random = StdRng::from_seed(tape.seed());
    wasi.insecure_random_seed(random.random());
    wasi.insecure_random(StdRng::from_rng(&mut random));
    wasi.secure_random(random);
    wasi.wall_clock(TapedClock(Arc::clone(tape)));
}

/// The wall clock of a guest that has a tape.
struct TapedClock(Arc<dyn GuestTape>);

impl HostWallClock for TapedClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        self.0.read_clock(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }
}

/// Takes the stacks of running guests, about once in a millisecond of their running time.
pub trait StackSampler: fmt::Debug + Send + Sync + 'static {
    /// Takes one: names of functions as the component has them, the innermost first. Called on the guest's thread and at its
    /// expense; must not block.
    fn sample(&self, stack: Vec<String>);
}

/// Reads the stack of a guest.
pub(crate) fn read_stack(store: impl AsContext) -> Vec<String> {
    let backtrace = WasmBacktrace::force_capture(store);
    let frames = backtrace.frames().iter().map(|frame| match frame.func_name() {
        Some(name) => name.to_owned(),
        None => format!("function {}", frame.func_index()),
    });
    frames.collect()
}
