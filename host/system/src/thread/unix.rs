//! POSIX clocks. Only Linux has a nice value for each thread: elsewhere it is that of the process.

use rustix::time::{ClockId, clock_gettime};

/// Whether [`cpu_time`] advances with each instruction, not in steps.
pub const HAS_EXACT_CPU_TIME: bool = true;

/// CPU time of the current thread in nanoseconds.
#[inline]
pub fn cpu_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Lowers the priority of the current thread by steps of `nice`.
#[cfg(target_os = "linux")]
pub fn lower_priority(steps: i32) {
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), steps);
}

/// Does nothing: the nice value is that of the process.
#[cfg(not(target_os = "linux"))]
pub fn lower_priority(_steps: i32) {}
