//! `loggia client remove`.

use std::process::ExitCode;

use anyhow::{Context, bail};
use loggia_clients::{ConfigScope, SystemFolders, remove_entry};

use super::{
    add::find_entry,
    change::{ConfigChange, read_file},
    options::{ClientName, EntryOptions},
};
use crate::cli::{common::UsageError, exit, term};

/// Remove Loggia from the configuration of an MCP client.
///
/// Shows the change and asks before it writes; scripts must pass --yes. Exits with 11 if there is no such entry.
#[derive(clap::Args)]
pub struct RemoveCommand {
    #[command(flatten)]
    client: ClientName,
    #[command(flatten)]
    entry: EntryOptions,
    /// Whose configuration: the user's, or that of the project in the current folder
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: ConfigScope,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
}

impl RemoveCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let (client, name) = (self.client.row(), &self.entry.name);
        let Some(file) = SystemFolders::of_process()?.config_file(client, self.scope) else {
            bail!(UsageError(format!(
                "{} reads no configuration of projects: use --scope user",
                client.title
            )));
        };
        let before = read_file(&file)?;
        let text = before.clone().unwrap_or_default();
        if find_entry(client, &file, &text, name)?.is_none() {
            term::note(&format!("nothing to remove: there is no entry `{name}` in {}", file.display()));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let after = remove_entry(client.syntax, &text, client.key, name)
            .with_context(|| format!("nothing was changed in {}", file.display()))?;
        let change = ConfigChange { file, before, after };
        if !change.confirm_and_write(self.yes, &format!("loggia client remove {} --yes", client.name))? {
            return Ok(ExitCode::from(exit::FAILED));
        }
        term::note(&format!("removed `{name}` from {}", change.file.display()));
        Ok(ExitCode::SUCCESS)
    }
}
