//! `loggia runs retry`.

use std::{
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::bail;
use loggia_gate::{
    journal::{NewRun, RunSummary, own_entries},
    run::RunId,
};
use loggia_workflow::facade::retry_history;

use crate::cli::{records::RunRecords, term};

/// Let an ended run begin again, as a new run of the same caller.
///
/// Steps that completed keep their results and are not repeated; the others run, and those that depend on them. Calls are
/// made with the same idempotency keys as before. A server that serves the workflow begins within five seconds. Prints
/// the handle of the new run.
#[derive(clap::Args)]
pub struct RetryCommand {
    /// Handle of the run
    run: String,
    /// Step to begin with, although it completed
    #[arg(long, value_name = "STEP")]
    from: Option<String>,
}

impl RetryCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        let Some(stored) = records.load(&self.run)? else { return Ok(records.report_missing(&self.run)) };
        if stored.end.is_none() {
            bail!("`{}` has not ended; `loggia runs cancel {}` ends it", self.run, self.run);
        }
        if !RunSummary::from_stored(&stored).is_ok_and(|summary| summary.resumes) {
            bail!("`{}` cannot be retried: only runs of workflows can; make the call again", self.run);
        }
        let history = records.read(Vec::new(), |journal| journal.history(self.run.clone()))?;
        let history = own_entries(history);
        let history = match retry_history(history, self.from.as_deref()) {
            Ok(history) => history,
            Err(error) => bail!("`{}` cannot be retried: {error}", self.run),
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let run = NewRun { id: RunId::random().to_string(), began_ms, ..stored.run };
        let id = run.id.clone();
        records.read((), |journal| journal.add(run, history))?;
        term::print(&id);
        Ok(ExitCode::SUCCESS)
    }
}
