//! The arguments by which the host's own binary becomes its compiler: a child process compiles components.

use loggia_sandbox::Space;

/// The hidden command that compiles.
pub const COMPILE: &str = "compile-component";

/// The arguments of a compiling child.
pub fn arguments(space: Space) -> Vec<String> {
    let short = (space == Space::Short).then_some("--short");
    [COMPILE].into_iter().chain(short).map(str::to_owned).collect()
}
