//! The arguments by which the host's own binary becomes its compiler: a child process compiles components.

use loggia_sandbox::AddressSpace;

/// The hidden command that compiles.
pub const COMPILE: &str = "compile-component";

/// The arguments of a compiling child.
pub fn arguments(space: AddressSpace) -> Vec<String> {
    let short = (space == AddressSpace::Short).then_some("--short");
    [COMPILE].into_iter().chain(short).map(str::to_owned).collect()
}
