//! Runtimes for calls that do not finish on their first poll. Their threads have a lower priority than the I/O runtime's.

use std::{io, num::NonZero, thread::available_parallelism, time::Duration};

use loggia_gate::schedule::RuntimeHandles;
use tokio::runtime::{Builder, Runtime};

/// Nice value: below the I/O runtime, but still a quarter of a CPU on a busy machine. With a tenth, CPU-bound calls timed
/// out beside a compiler.
const NICENESS: i32 = 5;
/// Time that shutdown waits for running guests. They are dropped at their next epoch, which is late on a busy machine. A
/// guest that outlived the runtime whose timer it uses would panic.
const LAST_EPOCH: Duration = Duration::from_secs(2);

/// The `calls` and `heavy` runtimes.
pub struct CallRuntimes {
    /// For calls that wait, and for background work.
    pub calls: Runtime,
    heavy: Runtime,
}

impl CallRuntimes {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// If threads cannot be started.
    pub fn new() -> io::Result<Self> {
        // Keep one CPU free of looping guests, if there are several: even a thread of low priority delays others until its
        // time slice ends.
        let processors = available_parallelism().map_or(1, NonZero::get);
        let calls = runtime("loggia-calls", processors)?;
        Ok(Self { calls, heavy: runtime("loggia-heavy", processors.saturating_sub(1).max(1))? })
    }

    /// Returns the handles for the gate.
    pub fn handles(&self) -> RuntimeHandles {
        RuntimeHandles { calls: self.calls.handle().clone(), heavy: self.heavy.handle().clone() }
    }

    /// Shuts the runtimes down. Does not wait for blocking work.
    pub fn shut_down(self) {
        self.heavy.shutdown_timeout(LAST_EPOCH);
        self.calls.shutdown_timeout(LAST_EPOCH);
    }
}

fn runtime(name: &'static str, threads: usize) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .thread_name(name)
        .worker_threads(threads)
        .on_thread_start(|| {
            loggia_system::thread::lower_priority(NICENESS);
        })
        .enable_all()
        .build()
}
