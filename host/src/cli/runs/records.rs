//! Opens the journal of a state folder or a database.

use std::{path::Path, process::ExitCode};

use anyhow::Context;
use futures_util::FutureExt;
use loggia_gate::journal::{Journal, JournalFuture, RetentionLimits, StoredRun};
use loggia_journal::SqliteJournal;
use loggia_postgres::{DatabaseAccess, DatabaseOptions, JournalOptions, PostgresJournal};

use crate::cli::{exit, term};

/// Recorded runs of a state folder or a database.
pub struct RunRecords {
    place: String,
    /// `None` if there is no such folder: it is not created.
    journal: Option<Box<dyn Journal>>,
}

impl RunRecords {
    /// Opens the journal of a state folder.
    pub fn open_folder(path: &Path) -> anyhow::Result<Self> {
        let open = || SqliteJournal::open(path, RetentionLimits::default());
        let journal = path.exists().then(open).transpose();
        let journal = journal.with_context(|| format!("failed to open the journal in {}", path.display()))?;
        let journal = journal.map(|journal| Box::new(journal) as Box<dyn Journal>);
        Ok(Self { place: path.display().to_string(), journal })
    }

    /// Opens the journal of a database.
    pub fn open_database(database: &DatabaseOptions) -> anyhow::Result<Self> {
        let access = DatabaseAccess::new(database)?;
        let place = format!("the {}", access.name());
        let journal = PostgresJournal::open(access, JournalOptions::default())
            .context("failed to open the database of `state.url`")?;
        Ok(Self { place, journal: Some(Box::new(journal)) })
    }

    /// Runs an operation; `missing` is its result without a journal.
    pub fn read<T>(
        &self,
        missing: T,
        operation: impl FnOnce(&dyn Journal) -> JournalFuture<T>,
    ) -> anyhow::Result<T> {
        let Some(journal) = &self.journal else { return Ok(missing) };
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(runtime.block_on(operation(&**journal).boxed())?)
    }

    /// Loads a run.
    pub fn load(&self, run: &str) -> anyhow::Result<Option<StoredRun>> {
        self.read(None, |journal| journal.load(run.to_owned()))
    }

    /// Reports a missing run; returns the exit code.
    pub fn report_missing(&self, run: &str) -> ExitCode {
        term::note(&format!("no run `{run}` is recorded in {}", self.place));
        ExitCode::from(exit::NOTHING)
    }

    /// Where the runs are recorded, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }
}
