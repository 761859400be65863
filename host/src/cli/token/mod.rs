//! `loggia token`.
//!
//! | file | concept |
//! |---|---|
//! | `new.rs` | creates a token |
//! | `revoke.rs` | revokes tokens, and lists what is revoked |

mod new;
mod revoke;

use std::process::ExitCode;

/// Create and revoke bearer tokens of HTTP callers.
#[derive(clap::Args)]
pub struct TokenCommand {
    #[command(subcommand)]
    command: Command,
}

// Help texts are at the commands' structs.
#[derive(clap::Subcommand)]
enum Command {
    New(new::NewTokenCommand),
    Revoke(revoke::RevokeCommand),
    Revoked(revoke::RevokedCommand),
}

impl TokenCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::New(command) => command.run(),
            Command::Revoke(command) => command.run(),
            Command::Revoked(command) => command.run(),
        }
    }
}
