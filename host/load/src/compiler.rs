//! The host's binary as a compiler of components, in a child process: its path, and its arguments.

use std::{
    io,
    path::{Path, PathBuf},
};

use loggia_sandbox::{AddressSpace, BacktraceDetail, CodeTarget};
use loggia_system::FileIdentity;

/// Name of the hidden command.
pub const COMPILE: &str = "compile-component";

/// Arguments of the child process.
pub fn compiler_arguments(target: CodeTarget) -> Vec<String> {
    let short = (target.space == AddressSpace::Short).then_some("--short");
    let lines = (target.backtraces == BacktraceDetail::Lines).then_some("--lines");
    [COMPILE].into_iter().chain(short).chain(lines).map(str::to_owned).collect()
}

/// Returns the path of the running binary, even if the file was replaced: a newer version could not compile for this
/// engine. Under valgrind, `/proc/self/exe` can be read as a link to the binary, but is valgrind.
///
/// # Errors
///
/// If the system does not know the path.
pub fn own_binary() -> io::Result<PathBuf> {
    let (own, named) = (Path::new("/proc/self/exe"), std::env::current_exe()?);
    match (FileIdentity::of_target(own), FileIdentity::of_target(&named)) {
        (Ok(own), Ok(other)) if own != other => Ok(named),
        (Ok(_), _) => Ok(own.to_owned()),
        (Err(_), _) => Ok(named),
    }
}
