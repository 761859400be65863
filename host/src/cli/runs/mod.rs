//! `loggia runs`.
//!
//! | file | concept |
//! |---|---|
//! | `list.rs` | lists runs |
//! | `show.rs` | shows one run |
//! | `cancel.rs` | cancels an unfinished run |
//! | `retry.rs` | lets an ended run begin again |
//! | `records.rs` | opens the journal of a folder or database |

mod cancel;
mod list;
mod records;
mod retry;
mod show;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use loggia_policy::settings::{Level, StateStorage};

use self::records::RunRecords;
use super::{common::env_default, database::to_database, settings};
use crate::{places, telemetry::logs};

/// List, show, cancel or retry runs.
///
/// A run of a workflow is recorded in the state folder or database before it changes anything, and goes on after a restart of its
/// server. A run of a plugin is recorded once its caller has its handle; if its action is read-only or idempotent, it is made
/// again after a restart, and otherwise it ends with its server. Ended runs are kept for a week. Running servers need not be stopped.
#[derive(Args)]
pub struct RunsCommand {
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
    Show(show::ShowCommand),
    Cancel(cancel::CancelCommand),
    Retry(retry::RetryCommand),
}

impl RunsCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let storage = match self.config.as_deref().map(settings::read_and_check).transpose()? {
            Some(settings) => settings.state,
            None => StateStorage::default(),
        };
        let records = match to_database(&storage) {
            Some(database) => RunRecords::open_database(&database)?,
            None => RunRecords::open_folder(&self.state.or(storage.folder).map_or_else(places::state, Ok)?)?,
        };
        match self.command {
            Command::List(command) => command.run(&records),
            Command::Show(command) => command.run(&records),
            Command::Cancel(command) => command.run(&records),
            Command::Retry(command) => command.run(&records),
        }
    }
}
