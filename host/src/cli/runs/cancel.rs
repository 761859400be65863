//! `loggia runs cancel`.

use std::process::ExitCode;

use crate::cli::{exit, records::RunRecords, term};

/// Cancel an unfinished run.
///
/// Its server cancels it within five seconds; if none runs, the next one does. What the run has done remains.
#[derive(clap::Args)]
pub struct CancelCommand {
    /// Handle of the run
    run: String,
}

impl CancelCommand {
    pub fn run(self, records: &RunRecords) -> anyhow::Result<ExitCode> {
        if records.read(false, |journal| journal.request_cancel(self.run.clone()))? {
            term::note(&format!("`{}` will be cancelled within seconds", self.run));
            return Ok(ExitCode::SUCCESS);
        }
        if records.load(&self.run)?.is_none() {
            return Ok(records.report_missing(&self.run));
        }
        term::note(&format!("`{}` has ended already", self.run));
        Ok(ExitCode::from(exit::FAILED))
    }
}
