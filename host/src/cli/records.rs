//! Opens the records of a state folder or a database: runs and approvals.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use futures_util::FutureExt;
use loggia_gate::{
    approval::ApprovalStore,
    journal::{Journal, JournalFuture, RetentionLimits, StoredRun},
};
use loggia_journal::SqliteJournal;
use loggia_load::places;
use loggia_policy::settings::Settings;
use loggia_postgres::{DatabaseAccess, DatabaseOptions, JournalOptions, PostgresJournal};

use super::{common::env_default, database::to_database, exit, settings, term};

/// Where runs and approvals are recorded.
#[derive(clap::Args)]
pub struct RecordPlace {
    /// State folder [env: LOGGIA_STATE; default: that of the settings file, or the platform's state folder]
    #[arg(
        long,
        value_name = "DIR",
        default_value = env_default("LOGGIA_STATE"),
        hide_default_value = true,
        global = true
    )]
    state: Option<PathBuf>,
    /// Settings file whose database (`state.url`) or state folder to use
    #[arg(long, value_name = "FILE", env = "LOGGIA_CONFIG", global = true)]
    config: Option<PathBuf>,
}

impl RecordPlace {
    /// Reads the settings, if a file is named.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        Ok(self.config.as_deref().map(settings::read_and_check).transpose()?.unwrap_or_default())
    }

    /// Returns the state folder.
    pub fn folder(self, settings: &Settings) -> anyhow::Result<PathBuf> {
        Ok(self.state.or_else(|| settings.state.folder.clone()).map_or_else(places::state, Ok)?)
    }
}

/// What a server records of runs and approvals.
pub trait RecordStore: Journal + ApprovalStore {}

impl<T: Journal + ApprovalStore> RecordStore for T {}

/// Recorded runs and approvals of a state folder or a database.
pub struct RunRecords {
    place: String,
    /// `None` if there is no such folder: it is not created.
    journal: Option<Box<dyn RecordStore>>,
}

impl RunRecords {
    /// Opens the records of a place.
    pub fn open(place: RecordPlace) -> anyhow::Result<Self> {
        let settings = place.settings()?;
        match to_database(&settings.state) {
            Some(database) => Self::open_database(&database),
            None => Self::open_folder(&place.folder(&settings)?),
        }
    }

    /// Opens the journal of a state folder.
    fn open_folder(path: &Path) -> anyhow::Result<Self> {
        let open = || SqliteJournal::open(path, RetentionLimits::default());
        let journal = path.exists().then(open).transpose();
        let journal = journal.with_context(|| format!("failed to open the journal in {}", path.display()))?;
        let journal = journal.map(|journal| Box::new(journal) as Box<dyn RecordStore>);
        Ok(Self { place: path.display().to_string(), journal })
    }

    /// Opens the journal of a database.
    fn open_database(database: &DatabaseOptions) -> anyhow::Result<Self> {
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
        operation: impl FnOnce(&dyn RecordStore) -> JournalFuture<T>,
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

/// Returns who runs the command, as the environment names them, for the audit trail.
pub fn own_name() -> String {
    let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    user.map_or_else(|| "command line".to_owned(), |user| format!("command line: {user:.100}"))
}
