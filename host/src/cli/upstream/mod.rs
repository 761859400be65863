//! `loggia upstream`.
//!
//! | file | concept |
//! |---|---|
//! | `import.rs` | servers of an MCP client's configuration, as settings |
//! | `list.rs`, `tools.rs` | upstreams of the settings, and the tools of one |
//! | `started.rs` | upstreams that are started only to be inspected |

mod import;
mod list;
mod started;
mod tools;

use std::process::ExitCode;

/// Serve other MCP servers: import them from a client's configuration, and inspect them.
#[derive(clap::Args)]
pub struct UpstreamCommand {
    #[command(subcommand)]
    command: Command,
}

// Help texts are at the commands' structs.
#[derive(clap::Subcommand)]
enum Command {
    Import(import::ImportCommand),
    List(list::ListCommand),
    Tools(tools::ToolsCommand),
}

impl UpstreamCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Import(command) => command.run(),
            Command::List(command) => command.run(),
            Command::Tools(command) => command.run(),
        }
    }
}
