//! The runtimes on which calls run that do not end at once. Their threads yield to those that answer clients.

use std::{io, num::NonZero, thread::available_parallelism, time::Duration};

use loggia_gate::schedule::Lanes;
use tokio::runtime::{Builder, Runtime};

/// Lower than the threads that answer clients have, and yet a quarter of a processor where the machine is busy with other
/// things: with a tenth, calls that compute did not end in their time beside a compiler.
const NICENESS: i32 = 5;
/// How long guests that still run are waited for: they are dropped at their next epoch, which comes late where the machine is
/// busy. One that outlived a runtime would panic, by whose clock it waits.
const LAST_EPOCH: Duration = Duration::from_secs(2);

/// The second runtime and the third.
pub struct CallRuntimes {
    /// For calls that wait, and for whatever else may take its time.
    pub calls: Runtime,
    heavy: Runtime,
}

impl CallRuntimes {
    /// Starts their threads.
    ///
    /// # Errors
    ///
    /// If there are none to be had.
    pub fn new() -> io::Result<Self> {
        // One processor stays free of guests that loop, where there is another: a thread of low priority is in the way
        // of others too, for as long as the kernel lets it finish its turn.
        let processors = available_parallelism().map_or(1, NonZero::get);
        let calls = runtime("loggia-calls", processors)?;
        Ok(Self { calls, heavy: runtime("loggia-heavy", processors.saturating_sub(1).max(1))? })
    }

    /// For the gate.
    pub fn lanes(&self) -> Lanes {
        Lanes { calls: self.calls.handle().clone(), heavy: self.heavy.handle().clone() }
    }

    /// Ends them. Blocking work is not waited for.
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
            // On Linux this is the thread's own priority.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
        })
        .enable_all()
        .build()
}
