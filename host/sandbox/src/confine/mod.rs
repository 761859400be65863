//! Sandbox of the compiling child, set up before it reads a byte of a plugin.
//!
//! The system enforces its resource limits; in addition it drops what compiling does not need: new privileges, further
//! threads, processes and files, and most system calls. Linux can do all of it, other systems less.

use loggia_policy::model::CompileLimits;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(all(unix, not(target_os = "linux")))]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Compiling threads, at most: each takes address space, which is limited.
const THREADS: usize = 8;

/// Gaps of the confinement of a compiling child on this system, as a clause; `None` if nothing.
pub(crate) const GAPS: Option<&str> = system::GAPS;

/// Limits the current process irrevocably. A limit that cannot be set is already in force at a lower value.
pub(crate) fn set_limits(limits: CompileLimits) {
    system::set_limits(limits);
}

/// Starts the compiling threads: later none can be started.
pub(crate) fn start_threads() {
    system::prepare_threads();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(THREADS);
    // If it fails, the first use starts as many threads as it can.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
}

/// Drops everything that compiling does not need, on all threads.
pub(crate) fn drop_privileges() {
    system::drop_privileges();
}
