//! `loggia audit`.
//!
//! | file | concept |
//! |---|---|
//! | `verify.rs` | finds what was changed in a trail |
//! | `query.rs` | prints lines by filters, and follows the trail |
//! | `key.rs` | prints the public key |

mod key;
mod query;
mod verify;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::{Args, Subcommand};
use loggia_policy::settings::Level;
use loggia_telemetry::logs;

use super::{common::UsageError, records::RecordPlace};

/// Verify, query or follow the audit trail.
///
/// Each line of the trail has the hash of the one before, and a checkpoint signs them at least each minute while there are
/// lines. The key, and the head of the chain, are in the state folder.
#[derive(Args)]
pub struct AuditCommand {
    #[command(subcommand)]
    command: Command,
    /// Audit file [default: `audit.file` of the settings file]
    #[arg(long, value_name = "FILE", global = true)]
    file: Option<PathBuf>,
    #[command(flatten)]
    place: RecordPlace,
}

// Help texts are at the commands' structs.
#[derive(Subcommand)]
enum Command {
    Verify(verify::VerifyCommand),
    Query(query::QueryCommand),
    Tail(query::TailCommand),
    Key(key::KeyCommand),
}

impl AuditCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let settings = self.place.settings()?;
        let state = self.place.folder(&settings)?;
        let file = self.file.or(settings.audit.file).map(|file| {
            std::path::absolute(&file).with_context(|| format!("failed to resolve {}", file.display()))
        });
        let file = || {
            let missing =
                "no audit file: pass --file FILE, or --config with a settings file that has `audit.file`";
            file.unwrap_or_else(|| Err(UsageError(missing.to_owned()).into()))
        };
        match self.command {
            Command::Verify(command) => command.run(&file()?, &state),
            Command::Query(command) => command.run(&file()?),
            Command::Tail(command) => command.run(&file()?),
            Command::Key(command) => command.run(&state),
        }
    }
}
