//! Opens the journal of a state folder.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use futures_util::FutureExt;
use loggia_gate::journal::{Journal, JournalFuture, RetentionLimits, StoredRun};
use loggia_journal::SqliteJournal;

use crate::cli::{exit, term};

/// Recorded runs of a state folder.
pub struct RunRecords {
    path: PathBuf,
    /// `None` if there is no such folder: it is not created.
    journal: Option<SqliteJournal>,
}

impl RunRecords {
    /// Opens the journal of a state folder.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let open = || SqliteJournal::open(path, RetentionLimits::default());
        let journal = path.exists().then(open).transpose();
        let journal = journal.with_context(|| format!("failed to open the journal in {}", path.display()))?;
        Ok(Self { path: path.to_owned(), journal })
    }

    /// Runs an operation; `missing` is its result without a journal.
    pub fn read<T>(
        &self,
        missing: T,
        operation: impl FnOnce(&SqliteJournal) -> JournalFuture<T>,
    ) -> anyhow::Result<T> {
        let Some(journal) = &self.journal else { return Ok(missing) };
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(runtime.block_on(operation(journal).boxed())?)
    }

    /// Loads a run.
    pub fn load(&self, run: &str) -> anyhow::Result<Option<StoredRun>> {
        self.read(None, |journal| journal.load(run.to_owned()))
    }

    /// Reports a missing run; returns the exit code.
    pub fn report_missing(&self, run: &str) -> ExitCode {
        term::note(&format!("no run `{run}` is recorded in {}", self.path.display()));
        ExitCode::from(exit::NOTHING)
    }

    /// Path of the state folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
