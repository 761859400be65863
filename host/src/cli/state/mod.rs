//! `loggia state`.
//!
//! | file | concept |
//! |---|---|
//! | `list.rs` | what there is |
//! | `transfer.rs` | JSON Lines out and in |
//! | `clear.rs` | taking it all away |

mod clear;
mod list;
mod transfer;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use loggia_state::{Folder, Space, Store};

use super::{exit, term, variable};
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
        logs::at(Level::Warn);
        let path = self.state.map_or_else(places::state, Ok)?;
        match self.command {
            Command::List(command) => command.run(&path),
            Command::Export(command) => command.run(&path),
            Command::Import(command) => command.run(&path),
            Command::Clear(command) => command.run(&path),
        }
    }
}

/// The state folder, if there is one: to look does not make it.
fn folder(path: &Path) -> anyhow::Result<Option<Folder>> {
    Ok(path.exists().then(|| Folder::open(path)).transpose()?)
}

/// The store of this name, if there is one.
fn store(path: &Path, name: &str) -> anyhow::Result<Option<Store>> {
    let Some(folder) = folder(path)? else { return Ok(None) };
    // Says what a name may be, before it says that there is none.
    let store = folder.store(name, u64::MAX)?;
    Ok(folder.names()?.iter().any(|there| there == name).then_some(store))
}

/// What a command says and ends with where there is no such store.
fn nothing(path: &Path, name: &str) -> ExitCode {
    term::note(&format!("there is no state of `{name}` in {}", path.display()));
    ExitCode::from(exit::NOTHING)
}

/// "1 entry" or "3 entries".
fn entries(count: u64) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

/// Whose space it is: opaque for a caller.
fn whose(space: &Space) -> String {
    match space {
        Space::Shared => "shared".to_owned(),
        Space::Caller(caller) => caller.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
