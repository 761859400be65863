//! What the compiling child takes from itself before it reads a byte that a plugin's author wrote.
//!
//! Its limits are the kernel's; on top of them it gives up what compiling needs no more: new privileges, further threads,
//! processes and files, and every system call but those that compute. Where a kernel lacks one of these it compiles
//! without it: each is a second wall.

use std::{collections::BTreeMap, fs};

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setpriority_process, setrlimit,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

use crate::limits::Compile;

/// Threads that compile, at most: each takes address space, which is limited.
const THREADS: usize = 8;
/// Arenas of glibc's allocator: each reserves 64 MiB of address space.
const ARENAS: i32 = 2;
/// The child is the first that a machine without memory kills.
const OOM_SCORE: &str = "1000";

/// Limits the current process for good. A limit that cannot be set (because a lower one is in force) is in force.
pub(crate) fn limit(limits: Compile) {
    // Counted in whole seconds.
    most(Resource::Cpu, limits.cpu.as_secs_f64().ceil() as u64);
    most(Resource::As, limits.memory);
    most(Resource::Core, 0);
    most(Resource::Fsize, 0);
    // Calls go first.
    let _ = setpriority_process(None, 10);
    let _ = fs::write("/proc/self/oom_score_adj", OOM_SCORE);
}

fn most(resource: Resource, most: u64) {
    let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
}

/// Starts the threads that compile: later there are no more.
pub(crate) fn start_threads() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    // SAFETY: a setting of the allocator, which takes its own lock; one that it does not know is left as it was.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(THREADS);
    // Where there cannot be so many, the first use makes what it can.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
}

/// Gives up what compiling does not need, on all threads.
pub(crate) fn give_up() {
    let _ = rustix::thread::set_no_new_privs(true);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    most(Resource::Nproc, 0);
    // What is open stays open.
    most(Resource::Nofile, 0);
    if let Some(filter) = filter() {
        let _ = seccompiler::apply_filter_all_threads(&filter);
    }
}

/// System calls that compute, wait for other threads, read, write and end. Any other fails as if it were not permitted,
/// rather than ending the process: a C library that tries something else has its own way without it.
const CALLS: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
];

fn filter() -> Option<BpfProgram> {
    let only = |argument, operator, value: u64| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).ok()?;
        Some(vec![SeccompRule::new(vec![condition]).ok()?])
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = CALLS.iter().map(|call| (*call, Vec::new())).collect();
    // Code is made, never run.
    let executable = libc::PROT_EXEC as u64;
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, only(2, SeccompCmpOp::MaskedEq(executable), 0)?);
    }
    // An abort is a signal to itself.
    rules.insert(libc::SYS_tgkill, only(0, SeccompCmpOp::Eq, u64::from(std::process::id()))?);
    let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, refused, SeccompAction::Allow, arch).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_filter_where_there_can_be_one() {
        let known = ["x86_64", "aarch64", "riscv64"].contains(&std::env::consts::ARCH);
        assert_eq!(filter().is_some(), known);
    }
}
