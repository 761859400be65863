//! The `loggia` command: parse, run, map the error to an exit code; nothing else.

use std::process::ExitCode;

use clap::Parser;
use loggia::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
