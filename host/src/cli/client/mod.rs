//! `loggia client`.
//!
//! | file | concept |
//! |---|---|
//! | `options.rs` | options of several commands |
//! | `change.rs` | a change that is shown, confirmed and written |
//! | `add.rs`, `remove.rs`, `list.rs` | commands |
//! | `doctor/` | why a client does not see the tools |

mod add;
mod change;
mod doctor;
mod list;
mod options;
mod remove;

use std::process::ExitCode;

/// Configure MCP clients, and find out why one does not see the tools.
#[derive(clap::Args)]
pub struct ClientCommand {
    #[command(subcommand)]
    command: Command,
}

// Help texts are at the commands' structs.
#[derive(clap::Subcommand)]
enum Command {
    Add(add::AddCommand),
    Remove(remove::RemoveCommand),
    List(list::ListCommand),
    Doctor(doctor::DoctorCommand),
}

impl ClientCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Add(command) => command.run(),
            Command::Remove(command) => command.run(),
            Command::List(command) => command.run(),
            Command::Doctor(command) => command.run(),
        }
    }
}
