//! Times and classes of the scheduler.

use windows_sys::Win32::{
    Foundation::FILETIME,
    System::Threading::{GetCurrentThread, GetThreadTimes, SetThreadPriority, THREAD_PRIORITY_BELOW_NORMAL},
};

/// Whether [`cpu_time`] advances with each instruction, not in steps.
pub const HAS_EXACT_CPU_TIME: bool = false;

/// CPU time of the current thread in nanoseconds, in steps of a tick of the scheduler: some 16 ms.
#[allow(unsafe_code)]
pub fn cpu_time() -> u64 {
    let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: the handle is that of the current thread and needs no closing; each pointer is that of a value of its own.
    let read = unsafe { GetThreadTimes(GetCurrentThread(), created, ended, kernel, user) };
    if read == 0 {
        return 0;
    }
    let steps = |time: &FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    // In steps of 100 ns.
    (steps(kernel) + steps(user)) * 100
}

/// Puts the current thread into the class below the normal one, whatever the number of steps.
#[allow(unsafe_code)]
pub fn lower_priority(_steps: i32) {
    // SAFETY: the handle is that of the current thread and needs no closing.
    unsafe {
        SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL);
    }
}
