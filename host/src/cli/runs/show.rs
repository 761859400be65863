//! `loggia runs show`.

use std::process::ExitCode;

use loggia_gate::journal::{RunSummary, own_entries};
use loggia_serve::approvals::format_time;
use loggia_workflow::facade::{StepSummary, summarize_steps};
use serde_json::{Value, json};

use crate::cli::{records::RunRecords, term};

/// Show a run: its caller, parameters, steps, trace and result, as JSON.
///
/// Parameters that a schema marks as secret are redacted. The steps of a workflow are those that were recorded: of one that
/// changes nothing, only the beginning is.
#[derive(clap::Args)]
pub struct ShowCommand {
    /// Handle of the run
    run: String,
}

impl ShowCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        let Some(stored) = records.load(&self.run)? else { return Ok(records.report_missing(&self.run)) };
        let history = records.read(Vec::new(), |journal| journal.history(self.run.clone()))?;
        let history = own_entries(history);
        let summary = RunSummary::from_stored(&stored).map_err(anyhow::Error::msg)?;
        // The entries of a run that ends with its server are lines of its trace.
        let (steps, lines) = match summary.resumes {
            true => match summarize_steps(&history) {
                Ok(steps) => (steps.iter().map(step_json).collect::<Value>(), None),
                Err(error) => (error.into(), None),
            },
            false => (
                Value::Null,
                Some(history.iter().filter_map(|line| serde_json::from_slice::<Value>(line).ok()).collect()),
            ),
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
            "trace": summary.trace.or(lines),
            "result": summary.result,
        }));
        Ok(ExitCode::SUCCESS)
    }
}

fn step_json(summary: &StepSummary) -> Value {
    json!({ "step": summary.step, "status": summary.status })
}
