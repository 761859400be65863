//! Resource limits of the kernel, and a filter of system calls. If a kernel lacks one of these, the child compiles without it:
//! each is a second line of defence.

use std::{collections::BTreeMap, fs};

use loggia_policy::model::CompileLimits;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setpriority_process, setrlimit,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

/// Arenas of glibc's allocator: each reserves 64 MiB of address space.
#[cfg(target_env = "gnu")]
const ARENAS: i32 = 2;
/// Gaps of the confinement: none.
pub(super) const GAPS: Option<&str> = None;
/// Makes the child the first process that the kernel kills when memory runs out.
const OOM_SCORE: &str = "1000";

/// Limits the current process irrevocably. A limit that cannot be set is already in force at a lower value.
pub(super) fn set_limits(limits: CompileLimits) {
    // Counted in whole seconds.
    set_limit(Resource::Cpu, limits.cpu.as_secs_f64().ceil() as u64);
    set_limit(Resource::As, limits.memory);
    set_limit(Resource::Core, 0);
    set_limit(Resource::Fsize, 0);
    // Calls have priority over compiling.
    let _ = setpriority_process(None, 10);
    let _ = fs::write("/proc/self/oom_score_adj", OOM_SCORE);
}

fn set_limit(resource: Resource, max: u64) {
    let _ = setrlimit(resource, Rlimit { current: Some(max), maximum: Some(max) });
}

/// Prepares the allocator for further threads.
pub(super) fn prepare_threads() {
    #[cfg(target_env = "gnu")]
    #[allow(unsafe_code)]
    // SAFETY: sets an option of the allocator, which takes its own lock and ignores unknown options.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

/// Drops everything that compiling does not need, on all threads.
pub(super) fn drop_privileges() {
    let _ = rustix::thread::set_no_new_privs(true);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    set_limit(Resource::Nproc, 0);
    // Open files stay open.
    set_limit(Resource::Nofile, 0);
    if let Some(filter) = filter() {
        let _ = seccompiler::apply_filter_all_threads(&filter);
    }
}

/// Allowed system calls: to compute, wait for other threads, read, write and exit. Others fail with EPERM rather than killing
/// the process: a C library that tries another call has a fallback.
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
    // Code is generated, never executed.
    let executable = libc::PROT_EXEC as u64;
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, only(2, SeccompCmpOp::MaskedEq(executable), 0)?);
    }
    // An abort is a signal to the process itself.
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
