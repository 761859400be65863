//! `loggia credential set`.

use std::{
    io::{IsTerminal, Read, stdin},
    process::ExitCode,
};

use anyhow::Context;
use loggia_login::caller_vault::CallerVault;

use super::caller::CallerOption;
use crate::cli::term;

/// Bytes of a credential that are read, at most: more than may be stored.
const MAX_BYTES: u64 = 16 << 10;

/// Store the credential of a caller, in place of another one.
///
/// Reads it from stdin; a terminal asks for it and does not show it.
#[derive(clap::Args)]
pub struct SetCommand {
    /// Facade that uses it
    name: String,
    #[command(flatten)]
    caller: CallerOption,
}

impl SetCommand {
    pub fn run(self, vault: &CallerVault) -> anyhow::Result<ExitCode> {
        let (name, caller) = (self.name, self.caller.name());
        let value = read_value(&format!("Credential of {caller} for `{name}`: "))?;
        vault.set(&name, caller.clone(), &value)?;
        term::note(&format!("stored the credential of {caller} for `{name}`"));
        Ok(ExitCode::SUCCESS)
    }
}

fn read_value(prompt: &str) -> anyhow::Result<String> {
    if stdin().is_terminal() {
        return rpassword::prompt_password(prompt).context("failed to read the credential from the terminal");
    }
    let mut value = String::new();
    stdin().take(MAX_BYTES).read_to_string(&mut value).context("failed to read the credential from stdin")?;
    Ok(value)
}
