//! The `loggia` command: parse, run, map the error to an exit code; nothing else.

use std::process::ExitCode;

use clap::Parser;
use loggia::cli::Cli;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    one_arena_for_each_processor();
    Cli::parse().run()
}

/// glibc gives threads up to eight arenas for each processor, and keeps in each what was once the most: beside plugins that
/// hoard, a host held a sixth more after some minutes than at first, and kept growing (`tests/soak`).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn one_arena_for_each_processor() {
    let processors = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let arenas = libc::c_int::try_from(processors.max(2)).unwrap_or(libc::c_int::MAX);
    #[allow(unsafe_code)]
    // SAFETY: no other thread runs yet; a setting that the allocator does not take is left as it was.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, arenas);
    }
}
