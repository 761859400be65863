//! Arguments that make the host's binary compile a component, in a child process.

use loggia_sandbox::{AddressSpace, BacktraceDetail, CodeTarget};

/// Name of the hidden command.
pub const COMPILE: &str = "compile-component";

/// Arguments of the child process.
pub fn compiler_arguments(target: CodeTarget) -> Vec<String> {
    let short = (target.space == AddressSpace::Short).then_some("--short");
    let lines = (target.backtraces == BacktraceDetail::Lines).then_some("--lines");
    [COMPILE].into_iter().chain(short).chain(lines).map(str::to_owned).collect()
}
