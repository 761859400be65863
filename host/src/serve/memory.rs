//! What glibc's allocator is told, which nobody else can: there is no safe way to. With another allocator nothing is.

/// One arena for each processor. glibc gives threads up to eight, and keeps in each what was once the most: beside plugins that
/// hoard, a host held a sixth more after ten minutes than at first (`tests/soak`). Must be called before there are threads.
#[allow(unsafe_code)]
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let processors = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let arenas = libc::c_int::try_from(processors.max(2)).unwrap_or(libc::c_int::MAX);
        // SAFETY: no other thread runs yet; a setting that the allocator does not take is left as it was.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, arenas);
        }
    }
}

/// Gives back what is free, so that what is resident is what is held.
#[allow(unsafe_code)]
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes the allocator's own locks, and touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
