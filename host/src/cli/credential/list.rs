//! `loggia credential list`.

use std::process::ExitCode;

use chrono::{DateTime, SecondsFormat};
use loggia_credentials::{ListedCredential, VaultError};
use loggia_login::caller_vault::CallerVault;
use loggia_text::printable;
use serde_json::{Value, json};

use crate::cli::{columns, exit, term};

/// List who has credentials for which facades. Shows no values.
#[derive(clap::Args)]
pub struct ListCommand {
    /// Facade whose credentials to list
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const HEAD: [&str; 3] = ["facade", "caller", "stored"];

impl ListCommand {
    pub fn run(self, vault: &CallerVault) -> anyhow::Result<ExitCode> {
        let mut listed = vault.list()?;
        listed.retain(|listed| self.name.as_ref().is_none_or(|name| *name == listed.facade));
        let failed = listed.iter().filter(|listed| listed.credential.is_err()).count();
        if self.json {
            term::print(&serde_json::to_string_pretty(&listed.iter().map(to_json).collect::<Vec<_>>())?);
        } else if listed.is_empty() {
            term::note("no credentials are stored");
        } else {
            let rows: Vec<_> = listed.iter().map(to_row).collect();
            let terminal = term::stdout_is_terminal();
            let table = terminal.then(|| columns::build_table(&HEAD, &rows, HEAD.len()).to_string());
            term::print(&table.unwrap_or_else(|| columns::tab_separated(&HEAD, &rows)));
        }
        if failed > 0 {
            term::note(&format!("{failed} of {} credentials cannot be read", listed.len()));
            return Ok(ExitCode::from(exit::FAILED));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Renders a credential as JSON; without its value.
pub fn to_json(listed: &ListedCredential) -> Value {
    match &listed.credential {
        Ok(credential) => json!({
            "facade": listed.facade,
            "caller": credential.caller,
            "stored": format_time(credential.stored),
        }),
        Err(error) => json!({"facade": listed.facade, "error": error.to_string()}),
    }
}

fn to_row(listed: &ListedCredential) -> [String; 3] {
    let failed = |error: &VaultError| (printable(&error.to_string()).into_owned(), String::new());
    let (caller, stored) = match &listed.credential {
        Ok(found) => (printable(&found.caller.to_string()).into_owned(), format_time(found.stored)),
        Err(error) => failed(error),
    };
    [listed.facade.clone(), caller, stored]
}

fn format_time(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    time.map_or_else(|| seconds.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::Secs, true))
}
