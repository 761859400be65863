//! `loggia runs show`.

use std::process::ExitCode;

use loggia_gate::journal::{Journal, RunSummary};
use loggia_workflow::facade::{StepSummary, summarize_steps};
use serde_json::{Value, json};

use super::{list::format_time, records::RunRecords};
use crate::cli::term;

/// Show a run: its caller, parameters, steps and result, as JSON.
///
/// Parameters that a schema marks as secret are redacted. The steps are those that were recorded: of a run that changes
/// nothing, only its beginning is.
#[derive(clap::Args)]
pub struct ShowCommand {
    /// Handle of the run
    run: String,
}

impl ShowCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        let Some(stored) = records.load(&self.run)? else { return Ok(records.report_missing(&self.run)) };
        let history = records.read(Vec::new(), |journal| journal.history(self.run.clone()))?;
        let summary = RunSummary::from_stored(&stored).map_err(anyhow::Error::msg)?;
        let steps = match summarize_steps(&history) {
            Ok(steps) => steps.iter().map(step_json).collect::<Value>(),
            Err(error) => error.into(),
        };
        term::print_json(&json!({
            "run": stored.run.id,
            "facade": stored.run.facade,
            "action": stored.run.action,
            "caller": summary.caller,
            "began": format_time(stored.run.began_ms),
            "ended": stored.end.as_ref().map(|(at, _)| format_time(*at)),
            "outcome": summary.outcome,
            "inputs": summary.inputs,
            "steps": steps,
            "result": summary.result,
        }));
        Ok(ExitCode::SUCCESS)
    }
}

fn step_json(summary: &StepSummary) -> Value {
    json!({ "step": summary.step, "status": summary.status })
}
