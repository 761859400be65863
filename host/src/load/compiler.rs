//! Arguments that make the host's binary compile a component, in a child process.

use loggia_sandbox::AddressSpace;

/// Name of the hidden command.
pub const COMPILE: &str = "compile-component";

/// Arguments of the child process.
pub fn compiler_arguments(space: AddressSpace) -> Vec<String> {
    let short = (space == AddressSpace::Short).then_some("--short");
    [COMPILE].into_iter().chain(short).map(str::to_owned).collect()
}
