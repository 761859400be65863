//! `loggia client`.
//!
//! | file | concept |
//! |---|---|
//! | `facts.rs`, `table.rs` | what is known of each client, as data with its sources |
//! | `places.rs` | where its configuration is |
//! | `options.rs` | options of several commands |
//! | `entry.rs`, `reading.rs` | the entry of a server: written, and read |
//! | `edit/` | an entry in the text of a file |
//! | `snippet.rs` | an entry as text to paste |
//! | `change.rs` | a change that is shown, confirmed and written |
//! | `add.rs`, `remove.rs`, `list.rs` | commands |
//! | `doctor/` | why a client does not see the tools |

mod add;
mod change;
mod doctor;
mod edit;
mod entry;
mod facts;
mod list;
mod options;
mod places;
mod reading;
mod remove;
mod snippet;
mod table;

use std::process::ExitCode;

pub use entry::{ServerTarget, TokenOrigin, render_entry};
pub use snippet::render_snippet;
pub use table::find_client;

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
