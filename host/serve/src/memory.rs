//! Settings of glibc's allocator, which have no safe API. Other allocators are left alone.

/// Arenas besides those of the threads that serve clients: of the main thread, and of those that start before them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OTHERS: usize = 4;

/// Limits the allocator to one arena for each thread that serves clients. By default, glibc creates up to eight per CPU, and each
/// keeps its peak memory: in `tests/soak`, resident memory grew by a sixth within ten minutes. With fewer, two of these threads
/// could get the same one, and would spend as much time on waiting for it as on small calls. Must be called before any thread
/// starts.
#[allow(unsafe_code)]
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let processors = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let arenas = libc::c_int::try_from(processors + OTHERS).unwrap_or(libc::c_int::MAX);
        // SAFETY: no other thread runs yet; the allocator ignores a value that it does not support.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, arenas);
        }
    }
}

/// Returns free memory to the kernel, so that resident memory equals memory in use.
#[allow(unsafe_code)]
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes the allocator's own locks, and does not touch allocated memory.
    unsafe {
        libc::malloc_trim(0);
    }
}
