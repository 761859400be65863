//! `loggia state`.
//!
//! | file | concept |
//! |---|---|
//! | `list.rs` | lists stores and keys |
//! | `transfer.rs` | exports and imports JSON Lines |
//! | `stores.rs` | opens the stores of a folder |
//! | `clear.rs` | deletes a store's entries |

mod clear;
mod list;
mod stores;
mod transfer;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use loggia_policy::settings::Level;

use super::common::env_default;
use crate::{places, telemetry::logs};

/// List, export, import or clear plugins' state.
///
/// Each plugin that is granted state has its own store, named after its facade. Running servers need not be stopped.
#[derive(Args)]
pub struct StateCommand {
    #[command(subcommand)]
    command: Command,
    /// State folder [env: LOGGIA_STATE; default: the platform's state folder]
    #[arg(
        long,
        value_name = "DIR",
        default_value = env_default("LOGGIA_STATE"),
        hide_default_value = true,
        global = true
    )]
    state: Option<PathBuf>,
}

// Help texts are at the commands' structs.
#[derive(Subcommand)]
enum Command {
    List(list::ListCommand),
    Export(transfer::ExportCommand),
    Import(transfer::ImportCommand),
    Clear(clear::ClearCommand),
}

impl StateCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let path = self.state.map_or_else(places::state, Ok)?;
        match self.command {
            Command::List(command) => command.run(&path),
            Command::Export(command) => command.run(&path),
            Command::Import(command) => command.run(&path),
            Command::Clear(command) => command.run(&path),
        }
    }
}
