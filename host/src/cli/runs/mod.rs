//! `loggia runs`.
//!
//! | file | concept |
//! |---|---|
//! | `list.rs` | lists runs |
//! | `show.rs` | shows one run |
//! | `cancel.rs` | cancels an unfinished run |
//! | `retry.rs` | lets an ended run begin again |
//! | `records.rs` | opens the journal of a folder |

mod cancel;
mod list;
mod records;
mod retry;
mod show;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use loggia_policy::settings::Level;

use self::records::RunRecords;
use super::common::env_default;
use crate::{places, telemetry::logs};

/// List, show, cancel or retry runs.
///
/// A run of a workflow is recorded in the state folder before it changes anything, and goes on after a restart of its
/// server. A run of a plugin is recorded once its caller has its handle, and ends with its server. Ended runs are kept for
/// a week. Running servers need not be stopped.
#[derive(Args)]
pub struct RunsCommand {
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
    Show(show::ShowCommand),
    Cancel(cancel::CancelCommand),
    Retry(retry::RetryCommand),
}

impl RunsCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let path = self.state.map_or_else(places::state, Ok)?;
        let records = RunRecords::open(&path)?;
        match self.command {
            Command::List(command) => command.run(&records),
            Command::Show(command) => command.run(&records),
            Command::Cancel(command) => command.run(&records),
            Command::Retry(command) => command.run(&records),
        }
    }
}
