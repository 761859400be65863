//! The thread that advances the engine's epoch, so that guest code yields every millisecond.
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

/// One epoch. Guest code runs at most this long before it yields.
pub const EPOCH: Duration = Duration::from_millis(1);

/// How many idle epochs pass before the thread sleeps. Lingering spares a stream of short calls a wake-up each.
const LINGER: u32 = 200;

/// Shared by the thread and all guards.
struct Shared {
    /// Calls that run now.
    running: AtomicUsize,
    /// The thread sleeps (or is about to) and must be woken by the next call.
    asleep: AtomicBool,
}

/// Starts and stops the epochs.
#[derive(Clone)]
pub struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

impl Ticker {
    /// Starts the thread. It ends when the engine is gone and something wakes it.
    pub fn start(engine: EngineWeak) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { running: AtomicUsize::new(0), asleep: AtomicBool::new(false) });
        let seen = Arc::clone(&shared);
        let handle =
            thread::Builder::new().name("loggia-epochs".into()).spawn(move || run(&engine, &seen))?;
        Ok(Self { shared, thread: handle.thread().clone() })
    }

    /// Epochs pass for as long as the guard lives.
    pub fn guard(&self) -> Running {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        Running(Arc::clone(&self.shared))
    }
}

/// Keeps the epochs passing.
pub struct Running(Arc<Shared>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn run(engine: &EngineWeak, shared: &Shared) {
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
        // A call that began before `asleep` was set did not wake this thread, so look once more.
        while shared.asleep.load(Ordering::SeqCst) && shared.running.load(Ordering::SeqCst) == 0 {
            thread::park();
        }
        shared.asleep.store(false, Ordering::SeqCst);
    }
}
