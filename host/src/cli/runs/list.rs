//! `loggia runs list`.

use std::process::ExitCode;

use loggia_gate::journal::{RunSummary, StoredRun};
use loggia_serve::approvals::format_time;
use loggia_text::printable;
use serde_json::{Value, json};

use crate::cli::{columns, records::RunRecords, term};

/// List recorded runs, the newest first.
///
/// The outcome is `unfinished`, `succeeded`, or the code of the failure.
#[derive(clap::Args)]
pub struct ListCommand {
    /// Facade whose runs to list
    facade: Option<String>,
    /// Number of runs to list
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const HEAD: [&str; 6] = ["run", "facade", "action", "caller", "began", "outcome"];

impl ListCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        let runs = records.read(Vec::new(), |journal| journal.list(self.facade.clone(), self.limit))?;
        if self.json {
            runs.iter().for_each(|run| term::print(&to_json(run).to_string()));
        } else if runs.is_empty() {
            term::note(&format!("no run is recorded in {}", records.place()));
        } else {
            let rows: Vec<_> = runs.iter().map(to_row).collect();
            term::print(&match term::stdout_is_terminal() {
                true => columns::build_table(&HEAD, &rows, HEAD.len()).to_string(),
                false => columns::tab_separated(&HEAD, &rows),
            });
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn to_row(stored: &StoredRun) -> [String; 6] {
    let (caller, outcome) = match RunSummary::from_stored(stored) {
        Ok(summary) => (summary.caller, summary.outcome),
        Err(_) => ("?".to_owned(), "unreadable".to_owned()),
    };
    let run = &stored.run;
    [&run.id, &run.facade, &run.action, &caller, &format_time(run.began_ms), &outcome]
        .map(|text| printable(text).into_owned())
}

fn to_json(stored: &StoredRun) -> Value {
    let run = &stored.run;
    let summary = RunSummary::from_stored(stored);
    json!({
        "run": run.id,
        "facade": run.facade,
        "action": run.action,
        "caller": summary.as_ref().ok().map(|summary| &summary.caller),
        "began": format_time(run.began_ms),
        "ended": stored.end.as_ref().map(|(at, _)| format_time(*at)),
        "outcome": summary.as_ref().map_or("unreadable", |summary| summary.outcome.as_str()),
    })
}
