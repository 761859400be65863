//! `loggia approvals show`.

use std::process::ExitCode;

use loggia_gate::approval::StoredApproval;
use loggia_serve::approvals::{now_ms, render_approval};

use crate::cli::{exit, records::RunRecords, term};

/// Show an approval as JSON: who asks for what, with which arguments, and the decision.
///
/// Arguments that a schema marks as secret are redacted.
#[derive(clap::Args)]
pub struct ShowCommand {
    /// Id of the approval
    id: String,
}

impl ShowCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        let Some(stored) = load(records, &self.id)? else { return Ok(report_missing(records, &self.id)) };
        term::print_json(&render_approval(&stored, now_ms()));
        Ok(ExitCode::SUCCESS)
    }
}

pub fn load(records: &RunRecords, id: &str) -> anyhow::Result<Option<StoredApproval>> {
    records.read(None, |store| store.approval(id.to_owned()))
}

/// Reports a missing approval; returns the exit code.
pub fn report_missing(records: &RunRecords, id: &str) -> ExitCode {
    term::note(&format!("there is no approval `{id}` in {}", records.place()));
    ExitCode::from(exit::NOTHING)
}
