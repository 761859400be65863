//! Soft and hard limits of descriptors.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Most descriptors that a process may have on macOS, even if its hard limit is higher (`OPEN_MAX`).
#[cfg(target_os = "macos")]
const MOST: Option<u64> = Some(10_240);
#[cfg(not(target_os = "macos"))]
const MOST: Option<u64> = None;

/// Returns how many descriptors the process may have; `None` without a limit.
pub fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Raises the soft limit to the hard limit.
///
/// # Errors
///
/// If the system refuses.
pub fn raise_limit() -> io::Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let most = [maximum, MOST].into_iter().flatten().min();
    // Already higher than the constant above.
    if let (Some(current), Some(most)) = (current, most)
        && current > most
    {
        return Ok(());
    }
    Ok(setrlimit(Resource::Nofile, Rlimit { current: most, maximum })?)
}
