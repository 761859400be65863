//! The `loggia` command.

use std::process::ExitCode;

use loggia::{cli, serve::memory};

fn main() -> ExitCode {
    memory::limit_arenas();
    cli::start()
}
