//! Opens the stores of a state folder or a database.

use std::{path::PathBuf, process::ExitCode};

use data_encoding::HEXLOWER;
use loggia_load::open_folder;
use loggia_postgres::{DatabaseAccess, DatabaseOptions};
use loggia_state::{StateError, StateFolder, StateSpace, StateStore};

use crate::cli::{exit, term};

/// Where stores are kept.
pub struct StorePlace {
    /// The state folder.
    pub path: PathBuf,
    /// The database that keeps the stores instead.
    pub database: Option<DatabaseOptions>,
}

impl StorePlace {
    /// Opens the folder; creates it if it is missing.
    pub fn create(&self) -> Result<StateFolder, StateError> {
        open_folder(&self.path, self.database.as_ref())
    }

    /// Opens the folder if there is one, or a database; does not create it.
    pub fn open(&self) -> anyhow::Result<Option<StateFolder>> {
        Ok((self.database.is_some() || self.path.exists()).then(|| self.create()).transpose()?)
    }

    /// Opens the store of this name if it exists.
    pub fn find(&self, name: &str) -> anyhow::Result<Option<StateStore>> {
        let Some(folder) = self.open()? else { return Ok(None) };
        // Rejects invalid names before missing ones.
        let store = folder.store(name, u64::MAX)?;
        Ok(folder.names()?.iter().any(|there| there == name).then_some(store))
    }

    /// Reports a missing store; returns the exit code.
    pub fn report_missing(&self, name: &str) -> ExitCode {
        term::note(&format!("there is no state of `{name}` in {}", self.name()));
        ExitCode::from(exit::NOTHING)
    }

    /// Name for messages.
    pub fn name(&self) -> String {
        match self.database.as_ref().map(DatabaseAccess::new) {
            Some(Ok(access)) => format!("the {}", access.name()),
            Some(Err(error)) => error.to_string(),
            None => self.path.display().to_string(),
        }
    }
}

/// Renders "1 entry" or "3 entries".
pub fn count_entries(count: u64) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

/// Renders the owner of a space; opaque for callers.
pub fn space_name(space: &StateSpace) -> String {
    match space {
        StateSpace::Shared => "shared".to_owned(),
        StateSpace::Caller(caller) => HEXLOWER.encode(caller),
    }
}
