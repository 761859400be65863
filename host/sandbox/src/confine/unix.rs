//! Resource limits of POSIX. XNU enforces none of address space, and its filters of system calls have no stable interface.

use loggia_policy::model::CompileLimits;
use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};

/// Gaps of the confinement, as a clause.
pub(super) const GAPS: Option<&str> = Some("its memory and its system calls are not limited");

/// Limits the CPU time of the current process, and what it may write.
pub(super) fn set_limits(limits: CompileLimits) {
    // Counted in whole seconds.
    set_limit(Resource::Cpu, limits.cpu.as_secs_f64().ceil() as u64);
    set_limit(Resource::As, limits.memory);
    set_limit(Resource::Core, 0);
    set_limit(Resource::Fsize, 0);
    // Calls have priority over compiling.
    let _ = setpriority_process(None, 10);
}

fn set_limit(resource: Resource, max: u64) {
    let _ = setrlimit(resource, Rlimit { current: Some(max), maximum: Some(max) });
}

/// Needs no preparation: each allocation is limited by itself.
pub(super) fn prepare_threads() {}

/// Drops the right to start processes and to open files. Open files stay open.
pub(super) fn drop_privileges() {
    set_limit(Resource::Nproc, 0);
    set_limit(Resource::Nofile, 0);
}
