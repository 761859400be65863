//! `loggia runs`.
//!
//! | file | concept |
//! |---|---|
//! | `list.rs` | lists runs |
//! | `show.rs` | shows one run |
//! | `cancel.rs` | cancels an unfinished run |
//! | `retry.rs` | lets an ended run begin again |

mod cancel;
mod list;
mod retry;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use loggia_policy::settings::Level;
use loggia_telemetry::logs;

use super::records::{RecordPlace, RunRecords};

/// List, show, cancel or retry runs.
///
/// A run of a workflow is recorded in the state folder or database before it changes anything, and goes on after a restart of its
/// server. A run of a plugin is recorded once its caller has its handle; if its action is read-only or idempotent, it is made
/// again after a restart, and otherwise it ends with its server. Ended runs are kept for a week. Running servers need not be stopped.
#[derive(Args)]
pub struct RunsCommand {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: RecordPlace,
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
        let records = RunRecords::open(self.place)?;
        match self.command {
            Command::List(command) => command.run(&records),
            Command::Show(command) => command.run(&records),
            Command::Cancel(command) => command.run(&records),
            Command::Retry(command) => command.run(&records),
        }
    }
}
