//! `loggia client list`.

use std::process::ExitCode;

use loggia_clients::{CLIENTS, ClientRow, ConfigScope, EntryKind, SystemFolders, read_config};
use serde_json::{Value, json};

use super::{change::read_file, options::EntryOptions};
use crate::cli::{columns, term};

/// List MCP clients, with their configuration files and Loggia's entries in them.
///
/// Files of projects are listed if the current folder has them.
#[derive(clap::Args)]
pub struct ListCommand {
    #[command(flatten)]
    entry: EntryOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const HEAD: [&str; 6] = ["client", "scope", "installed", "entry", "kind", "file"];

/// One file of one client.
struct ListedFile {
    client: &'static ClientRow,
    scope: ConfigScope,
    installed: bool,
    file: String,
    /// Whether the entry is there; the reason if that is unknown.
    entry: Result<Option<Value>, String>,
}

impl ListCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let folders = SystemFolders::of_process()?;
        let name = &self.entry.name;
        let files: Vec<ListedFile> = CLIENTS
            .iter()
            .flat_map(|client| [ConfigScope::User, ConfigScope::Project].map(|scope| (client, scope)))
            .filter_map(|(client, scope)| look(&folders, client, scope, name))
            .collect();
        if self.json {
            term::print(&format!("{:#}", Value::Array(files.iter().map(ListedFile::to_json).collect())));
            return Ok(ExitCode::SUCCESS);
        }
        let rows: Vec<_> = files.iter().map(ListedFile::to_row).collect();
        if term::stdout_is_terminal() {
            term::print(&columns::build_table(&HEAD, &rows, HEAD.len()).to_string());
        } else {
            term::print(&columns::tab_separated(&HEAD, &rows));
        }
        for file in &files {
            if let Err(reason) = &file.entry {
                term::note(&format!("{}: {}: {reason}", file.client.name, file.file));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn look(
    folders: &SystemFolders,
    client: &'static ClientRow,
    scope: ConfigScope,
    name: &str,
) -> Option<ListedFile> {
    let file = match scope {
        ConfigScope::User => folders.config_file(client, scope)?,
        ConfigScope::Project => folders.project_file(client)?,
    };
    let entry = read_file(&file).map_err(|error| format!("{error:#}")).and_then(|text| {
        let whole =
            read_config(client.syntax, &text.unwrap_or_default()).map_err(|fault| fault.to_string())?;
        Ok(whole.get(client.key).and_then(|servers| servers.get(name)).cloned())
    });
    let installed = folders.is_installed(client);
    Some(ListedFile { client, scope, installed, file: file.display().to_string(), entry })
}

impl ListedFile {
    fn kind(&self) -> Option<&'static str> {
        let entry = self.entry.as_ref().ok()?.as_ref()?;
        Some(EntryKind::read(self.client, entry).map_or("unknown", |kind| kind.word()))
    }

    fn state(&self) -> &'static str {
        match &self.entry {
            Ok(Some(_)) => "yes",
            Ok(None) => "no",
            Err(_) => "unreadable",
        }
    }

    fn to_row(&self) -> [String; 6] {
        [
            self.client.name.to_owned(),
            self.scope.word().to_owned(),
            if self.installed { "yes" } else { "no" }.to_owned(),
            self.state().to_owned(),
            self.kind().unwrap_or("-").to_owned(),
            self.file.clone(),
        ]
    }

    fn to_json(&self) -> Value {
        let mut item = json!({
            "client": self.client.name, "scope": self.scope.word(), "file": self.file,
            "installed": self.installed, "entry": self.state() == "yes", "kind": self.kind(),
        });
        if let Err(reason) = &self.entry {
            item["problem"] = json!(reason);
        }
        item
    }
}
