//! The thread that advances the engine's epoch, so that guest code yields every other millisecond.
//!
//! It runs only while calls run: a host with nothing to do does not wake.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use wasmtime::EngineWeak;

/// One epoch.
pub(crate) const EPOCH: Duration = Duration::from_millis(1);
/// Epochs after which guest code yields. A guest begins within an epoch, so a slice takes more than one millisecond, and no more
/// than two: with a single epoch, calls of any length could be split.
pub(crate) const SLICE: u64 = 2;

/// Idle epochs before the thread sleeps. Lingering saves a stream of short calls a wake-up each.
const LINGER: u32 = 200;

/// State shared by the thread and all guards.
///
/// A call increments `running` and then clears `asleep`; the thread sets `asleep` and then reads `running`. With sequential
/// consistency one of them sees the other, so a call never runs while the thread sleeps.
struct TickerState {
    /// Calls running now.
    running: AtomicUsize,
    /// Set while the thread sleeps, or is about to: the next call must wake it.
    asleep: AtomicBool,
}

/// Handle of the thread.
#[derive(Clone)]
pub(crate) struct EpochTicker {
    shared: Arc<TickerState>,
    thread: Thread,
}

impl EpochTicker {
    /// Starts the thread. It ends at its first wake-up after the engine was dropped.
    pub(crate) fn start(engine: EngineWeak) -> std::io::Result<Self> {
        let shared = Arc::new(TickerState { running: AtomicUsize::new(0), asleep: AtomicBool::new(false) });
        let seen = Arc::clone(&shared);
        let handle =
            thread::Builder::new().name("loggia-epochs".into()).spawn(move || run(&engine, &seen))?;
        Ok(Self { shared, thread: handle.thread().clone() })
    }

    /// Keeps epochs passing for as long as the guard lives.
    pub(crate) fn guard(&self) -> RunningGuard {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        RunningGuard(Arc::clone(&self.shared))
    }
}

/// A call that runs: epochs pass while it lives.
pub(crate) struct RunningGuard(Arc<TickerState>);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn run(engine: &EngineWeak, shared: &TickerState) {
    let mut idle = 0;
    while let Some(engine) = engine.upgrade() {
        engine.increment_epoch();
        drop(engine);
        idle = if shared.running.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
        if idle < LINGER {
            thread::sleep(EPOCH);
            continue;
        }
        idle = 0;
        shared.asleep.store(true, Ordering::SeqCst);
        // A call that began before `asleep` was set did not wake this thread, so check once more.
        while shared.asleep.load(Ordering::SeqCst) && shared.running.load(Ordering::SeqCst) == 0 {
            thread::park();
        }
        shared.asleep.store(false, Ordering::SeqCst);
    }
}
