//! `loggia upstream list`.

use std::process::ExitCode;

use loggia_facade::Facade;
use loggia_text::printable;
use loggia_upstream::TransportSpec;
use serde_json::{Value, json};

use super::started::{SettingsOption, StartedUpstream, inspect};
use crate::cli::{columns, exit, term};

/// List the upstreams of the settings, with the number of their tools.
///
/// Starts each of them. Exits with 10 if one is unavailable, and with 11 if there is none.
#[derive(clap::Args)]
pub struct ListCommand {
    #[command(flatten)]
    settings: SettingsOption,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const HEAD: [&str; 4] = ["name", "server", "state", "tools"];

impl ListCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let specs = self.settings.specs()?;
        if specs.is_empty() {
            term::note(&format!("{} has no [upstream.NAME]", self.settings.path().display()));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let upstreams = inspect(specs)?;
        if self.json {
            let all: Vec<Value> = upstreams.iter().map(to_json).collect();
            term::print(&format!("{:#}", Value::Array(all)));
        } else {
            let rows: Vec<_> = upstreams.iter().map(to_row).collect();
            if term::stdout_is_terminal() {
                term::print(&columns::build_table(&HEAD, &rows, 3).to_string());
            } else {
                term::print(&columns::tab_separated(&HEAD, &rows));
            }
        }
        for upstream in &upstreams {
            for note in notes(upstream) {
                term::note(&format!("{}: {}", upstream.spec.name, printable(&note)));
            }
        }
        let failed = upstreams.iter().any(|upstream| upstream.tools.is_err());
        Ok(if failed { ExitCode::from(exit::REFUSED) } else { ExitCode::SUCCESS })
    }
}

/// Returns the reason of an outage, or the problems of the tools.
fn notes(upstream: &StartedUpstream) -> Vec<String> {
    match &upstream.tools {
        Ok(facade) => facade.tools().problems.clone(),
        Err(reason) => vec![reason.clone()],
    }
}

fn to_row(upstream: &StartedUpstream) -> [String; 4] {
    let tools = upstream.tools.as_ref().map(|facade| facade.surface().actions.len().to_string());
    [
        upstream.spec.name.clone(),
        printable(&server(&upstream.spec.transport)).into_owned(),
        if tools.is_ok() { "ready" } else { "unavailable" }.to_owned(),
        tools.unwrap_or_else(|_| "-".to_owned()),
    ]
}

fn to_json(upstream: &StartedUpstream) -> Value {
    let mut item = json!({"name": upstream.spec.name, "server": server(&upstream.spec.transport)});
    match &upstream.tools {
        Ok(facade) => {
            item["state"] = json!("ready");
            item["tools"] = json!(facade.surface().actions.len());
            item["problems"] = json!(facade.tools().problems);
        }
        Err(reason) => {
            item["state"] = json!("unavailable");
            item["why"] = json!(reason);
        }
    }
    item
}

/// Returns the command without its arguments, which may be secret, or the URL without its query.
fn server(transport: &TransportSpec) -> String {
    match transport {
        TransportSpec::Stdio(stdio) => stdio.command.clone(),
        TransportSpec::Http(http) => http.url.split('?').next().unwrap_or_default().to_owned(),
    }
}
