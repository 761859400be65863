//! `loggia approvals`.
//!
//! | file | concept |
//! |---|---|
//! | `list.rs` | lists approvals |
//! | `show.rs` | shows one approval |
//! | `decide.rs` | approves or denies |

mod decide;
mod list;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use loggia_policy::settings::Level;
use loggia_telemetry::logs;

use super::records::{RecordPlace, RunRecords};

/// List, show, approve or deny calls that wait for a person.
///
/// An action that its policy names under `confirm` asks the user of the client. Where the client cannot ask, the call waits for
/// an operator, who decides here, on the admin listener (`/approvals`), or through the webhook of `[approvals]`. So do the
/// questions of workflows. A decision is valid for one call with the arguments that are shown, and once. Running servers need not be
/// stopped: they notice within a second.
///
/// Without a subcommand, lists the open approvals.
#[derive(Args)]
pub struct ApprovalsCommand {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    place: RecordPlace,
}

// Help texts are at the commands' structs.
#[derive(Subcommand)]
enum Command {
    List(list::ListCommand),
    Show(show::ShowCommand),
    Approve(decide::ApproveCommand),
    Deny(decide::DenyCommand),
}

impl ApprovalsCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let records = RunRecords::open(self.place)?;
        match self.command {
            None => list::ListCommand::default().run(&records),
            Some(Command::List(command)) => command.run(&records),
            Some(Command::Show(command)) => command.run(&records),
            Some(Command::Approve(command)) => command.run(&records),
            Some(Command::Deny(command)) => command.run(&records),
        }
    }
}
