//! `loggia import`.
//!
//! | file | concept |
//! |---|---|
//! | `openapi.rs` | an OpenAPI document as a facade |
//! | `fetch.rs` | documents at a URL |

mod fetch;
mod openapi;

pub use openapi::read_api;

use std::process::ExitCode;

/// Import the description of an API, to serve it as a facade.
#[derive(clap::Args)]
pub struct ImportCommand {
    #[command(subcommand)]
    command: Command,
}

// Help texts are at the commands' structs.
#[derive(clap::Subcommand)]
enum Command {
    Openapi(openapi::OpenapiCommand),
}

impl ImportCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let Command::Openapi(command) = self.command;
        command.run()
    }
}
