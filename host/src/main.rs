//! The `loggia` command: parse, run, map the error to an exit code; nothing else.

use std::process::ExitCode;

use clap::Parser;
use loggia::{cli::Cli, serve::memory};

fn main() -> ExitCode {
    memory::one_arena_for_each_processor();
    Cli::parse().run()
}
