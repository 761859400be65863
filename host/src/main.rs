//! The `loggia` command.

use std::process::ExitCode;

use loggia::{cli, serve::memory};

fn main() -> ExitCode {
    memory::one_arena_for_each_processor();
    cli::start()
}
