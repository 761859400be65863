//! `loggia credential`.
//!
//! | file | concept |
//! |---|---|
//! | `caller.rs` | the option that names the owner |
//! | `set.rs` | reads a credential and stores it |
//! | `login.rs` | asks an authorization server for one, by a browser |
//! | `list.rs` | lists owners, without values |
//! | `remove.rs` | removes a credential |

mod caller;
mod list;
mod login;
mod remove;
mod set;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use loggia_load::{open_folder, places};
use loggia_login::caller_vault::{CallerVault, to_login_clients};
use loggia_policy::settings::Level;
use loggia_telemetry::logs;

use super::common::{UsageError, env_default};
use crate::cli::{database::to_database, settings};

/// Store, list or remove the credentials of callers.
///
/// A policy whose `secrets` are `per-caller` sends each caller's own credential. They are encrypted in the state folder, with
/// the key of LOGGIA_CREDENTIAL_KEY (`openssl rand -base64 32`), or else the folder's own; with a database (`state.url`), in the database,
/// with LOGGIA_CREDENTIAL_KEY alone. Running servers use changes at once.
#[derive(Args)]
pub struct CredentialCommand {
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
    Set(set::SetCommand),
    Login(login::LoginCommand),
    List(list::ListCommand),
    Remove(remove::RemoveCommand),
}

impl CredentialCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let settings = self.config.as_deref().map(settings::read_and_check).transpose()?;
        let logins = settings.as_ref().map(|settings| to_login_clients(&settings.login)).unwrap_or_default();
        let storage = settings.map(|settings| settings.state).unwrap_or_default();
        let database = to_database(&storage);
        let state = self.state.or(storage.folder);
        // With a database, callers' keys are made of its secret.
        let folder = open_folder(&state.map_or_else(places::state, Ok)?, database.as_ref())?;
        let vault = CallerVault::open(&folder, places::vault_key().map_err(UsageError)?)?;
        match self.command {
            Command::Set(command) => command.run(&vault),
            Command::Login(command) => {
                let client = logins.get(&command.name);
                command.run(&vault, client)
            }
            Command::List(command) => command.run(&vault),
            Command::Remove(command) => command.run(&vault),
        }
    }
}
