//! A job object, which the child creates around itself.

use std::ptr::null;

use loggia_policy::model::CompileLimits;
use windows_sys::Win32::System::{
    JobObjects::{
        AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
        JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION, JOB_OBJECT_LIMIT_PRIORITY_CLASS,
        JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOB_OBJECT_LIMIT_PROCESS_TIME, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
        JobObjectExtendedLimitInformation, SetInformationJobObject,
    },
    Threading::{BELOW_NORMAL_PRIORITY_CLASS, GetCurrentProcess},
};

/// Gaps of the confinement, as a clause.
pub(super) const GAPS: Option<&str> = Some("it keeps this user's rights to files and to the network");

/// Limits CPU time and memory of the current process, and lets it start no other.
pub(super) fn set_limits(limits: CompileLimits) {
    let mut wanted = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    let basic = &mut wanted.BasicLimitInformation;
    basic.LimitFlags = JOB_OBJECT_LIMIT_ACTIVE_PROCESS
        | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
        | JOB_OBJECT_LIMIT_PRIORITY_CLASS
        | JOB_OBJECT_LIMIT_PROCESS_MEMORY
        | JOB_OBJECT_LIMIT_PROCESS_TIME;
    basic.ActiveProcessLimit = 1;
    // Calls have priority over compiling.
    basic.PriorityClass = BELOW_NORMAL_PRIORITY_CLASS;
    // In steps of 100 ns.
    basic.PerProcessUserTimeLimit = i64::try_from(limits.cpu.as_nanos() / 100).unwrap_or(i64::MAX);
    wanted.ProcessMemoryLimit = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    enter_job(&wanted);
}

/// Puts the current process into a job of its own. The job's handle stays open for as long as the process runs.
#[allow(unsafe_code)]
fn enter_job(limits: &JOBOBJECT_EXTENDED_LIMIT_INFORMATION) {
    const SIZE: u32 = size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32;
    // SAFETY: the name and the attributes may be missing, and the pointer is that of a value of the class and size that are
    // named. A job that cannot be created is null, which the other functions refuse.
    unsafe {
        let job = CreateJobObjectW(null(), null());
        SetInformationJobObject(
            job,
            JobObjectExtendedLimitInformation,
            std::ptr::from_ref(limits).cast(),
            SIZE,
        );
        AssignProcessToJobObject(job, GetCurrentProcess());
    }
}

/// Needs no preparation: the allocator reserves no address space for threads.
pub(super) fn prepare_threads() {}

/// Does nothing: a process cannot give up its user's rights to files.
pub(super) fn drop_privileges() {}
