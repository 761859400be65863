//! The `loggia` command.

use std::process::ExitCode;

use loggia::cli;
use loggia_serve::memory;

fn main() -> ExitCode {
    memory::limit_arenas();
    cli::start()
}
