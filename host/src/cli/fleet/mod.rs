//! `loggia fleet`.

mod status;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Look at servers that share a database.
#[derive(Args)]
pub struct FleetCommand {
    #[command(subcommand)]
    command: Command,
}

// Help texts are at the commands' structs.
#[derive(Subcommand)]
enum Command {
    Status(status::StatusCommand),
}

impl FleetCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Status(command) => command.run(),
        }
    }
}
