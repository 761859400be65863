//! `loggia state`.
//!
//! | file | concept |
//! |---|---|
//! | `list.rs` | what there is |
//! | `transfer.rs` | JSON Lines out and in |
//! | `stores.rs` | the stores of a folder |
//! | `clear.rs` | taking it all away |

mod clear;
mod list;
mod stores;
mod transfer;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};

use super::common::variable;
use crate::{
    config::places,
    telemetry::logs::{self, Level},
};

/// Look at what plugins have stored, keep it, bring it back, clear it.
///
/// Each plugin that is granted state has a store of its own, named like its facade. Hosts may go on serving meanwhile.
#[derive(Args)]
pub struct State {
    #[command(subcommand)]
    command: Command,
    /// Where state is kept [env: LOGGIA_STATE; default: the platform's state folder]
    #[arg(
        long,
        value_name = "DIR",
        default_value = variable("LOGGIA_STATE"),
        hide_default_value = true,
        global = true
    )]
    state: Option<PathBuf>,
}

// What each command's help says stands at its own struct.
#[derive(Subcommand)]
enum Command {
    List(list::List),
    Export(transfer::Export),
    Import(transfer::Import),
    Clear(clear::Clear),
}

impl State {
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
