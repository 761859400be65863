//! `loggia state`.
//!
//! | file | concept |
//! |---|---|
//! | `list.rs` | lists stores and keys |
//! | `transfer.rs` | exports and imports JSON Lines |
//! | `stores.rs` | opens the stores of a folder or database |
//! | `clear.rs` | deletes a store's entries |
//! | `migrate.rs` | copies all stores between folder and database |

mod clear;
mod list;
mod migrate;
mod stores;
mod transfer;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use loggia_load::places;
use loggia_policy::settings::{Level, StateStorage};
use loggia_telemetry::logs;

use self::stores::StorePlace;
use super::{common::env_default, database::to_database, settings};

/// List, export, import, clear or migrate plugins' state.
///
/// Each plugin that is granted state has its own store, named after its facade. Running servers need not be stopped.
#[derive(Args)]
pub struct StateCommand {
    #[command(subcommand)]
    command: Command,
    /// State folder [env: LOGGIA_STATE; default: that of the settings file, or the platform's state folder]
    #[arg(
        long,
        value_name = "DIR",
        default_value = env_default("LOGGIA_STATE"),
        hide_default_value = true,
        global = true
    )]
    state: Option<PathBuf>,
    /// Settings file whose database (`state.url`) or state folder to use
    #[arg(long, value_name = "FILE", env = "LOGGIA_CONFIG", global = true)]
    config: Option<PathBuf>,
}

// Help texts are at the commands' structs.
#[derive(Subcommand)]
enum Command {
    List(list::ListCommand),
    Export(transfer::ExportCommand),
    Import(transfer::ImportCommand),
    Clear(clear::ClearCommand),
    Migrate(migrate::MigrateCommand),
}

impl StateCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let storage = match self.config.as_deref().map(settings::read_and_check).transpose()? {
            Some(settings) => settings.state,
            None => StateStorage::default(),
        };
        let place = StorePlace {
            database: to_database(&storage),
            path: self.state.or(storage.folder).map_or_else(places::state, Ok)?,
        };
        match self.command {
            Command::List(command) => command.run(&place),
            Command::Export(command) => command.run(&place),
            Command::Import(command) => command.run(&place),
            Command::Clear(command) => command.run(&place),
            Command::Migrate(command) => command.run(&place),
        }
    }
}
