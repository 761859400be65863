//! `loggia fleet status`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, bail};
use chrono::{DateTime, SecondsFormat, Utc};
use loggia_policy::settings::Level;
use loggia_postgres::{DatabaseAccess, HostSummary, list_hosts};
use loggia_telemetry::logs;
use loggia_text::printable;
use serde_json::{Value, json};

use crate::cli::{
    columns,
    common::{UsageError, io_runtime},
    database::to_database,
    exit, settings, term,
};

/// List the servers that share the database of a settings file, the oldest first.
///
/// A server that ended without notice is listed for an hour, with the status `lost`. Its unfinished runs are taken up by the
/// others.
///
/// Exits with 0 if there is a server that is alive, and with 11 if there is none.
#[derive(clap::Args)]
pub struct StatusCommand {
    /// Settings file that names the database (`state.url`)
    #[arg(long, value_name = "FILE", env = "LOGGIA_CONFIG")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const HEAD: [&str; 5] = ["server", "version", "began", "status", "runs"];

impl StatusCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let Some(file) = &self.config else {
            bail!(UsageError("pass the settings file that names the database: --config loggia.toml".into()));
        };
        let storage = settings::read_and_check(file)?.state;
        let Some(database) = to_database(&storage) else {
            bail!("{} names no database: `state.url`", file.display());
        };
        let access = DatabaseAccess::new(&database)?;
        let hosts = io_runtime()?.block_on(list_hosts(&access)).context("failed to read the database")?;
        if self.json {
            hosts.iter().for_each(|host| term::print(&to_json(host).to_string()));
        } else if hosts.is_empty() {
            term::note(&format!("no server uses the {}", access.name()));
        } else {
            let rows: Vec<_> = hosts.iter().map(to_row).collect();
            term::print(&match term::stdout_is_terminal() {
                true => columns::build_table(&HEAD, &rows, HEAD.len()).to_string(),
                false => columns::tab_separated(&HEAD, &rows),
            });
        }
        let any = hosts.iter().any(|host| host.is_alive);
        Ok(if any { ExitCode::SUCCESS } else { ExitCode::from(exit::NOTHING) })
    }
}

fn status(host: &HostSummary) -> &'static str {
    if host.is_alive { "alive" } else { "lost" }
}

fn began(host: &HostSummary) -> String {
    DateTime::<Utc>::from(host.began).to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn to_row(host: &HostSummary) -> [String; 5] {
    let cells = [&host.label.name, &host.label.version, &began(host), status(host), &host.runs.to_string()];
    cells.map(|cell| printable(cell).into_owned())
}

fn to_json(host: &HostSummary) -> Value {
    json!({
        "server": host.label.name,
        "version": host.label.version,
        "began": began(host),
        "status": status(host),
        "runs": host.runs,
    })
}
