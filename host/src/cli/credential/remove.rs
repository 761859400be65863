//! `loggia credential remove`.

use std::process::ExitCode;

use loggia_login::caller_vault::CallerVault;

use super::caller::CallerOption;
use crate::cli::{exit, term};

/// Remove the credential of a caller. It stays valid at the server that issued it.
#[derive(clap::Args)]
pub struct RemoveCommand {
    /// Facade that uses it
    name: String,
    #[command(flatten)]
    caller: CallerOption,
}

impl RemoveCommand {
    pub fn run(self, vault: &CallerVault) -> anyhow::Result<ExitCode> {
        let (name, caller) = (self.name, self.caller.name());
        if !vault.remove(&name, &caller)? {
            term::note(&format!("there is no credential of {caller} for `{name}`"));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        term::note(&format!("removed the credential of {caller} for `{name}`"));
        Ok(ExitCode::SUCCESS)
    }
}
