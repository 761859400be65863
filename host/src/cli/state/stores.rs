//! Opens the stores of a state folder.

use std::{path::Path, process::ExitCode};

use loggia_state::{StateFolder, StateSpace, StateStore};

use crate::cli::{exit, term};

/// Opens the state folder if it exists; does not create it.
pub fn open_folder(path: &Path) -> anyhow::Result<Option<StateFolder>> {
    Ok(path.exists().then(|| StateFolder::open(path)).transpose()?)
}

/// Opens the store of this name if it exists.
pub fn find_store(path: &Path, name: &str) -> anyhow::Result<Option<StateStore>> {
    let Some(folder) = open_folder(path)? else { return Ok(None) };
    // Rejects invalid names before missing ones.
    let store = folder.store(name, u64::MAX)?;
    Ok(folder.names()?.iter().any(|there| there == name).then_some(store))
}

/// Reports a missing store; returns the exit code.
pub fn report_missing(path: &Path, name: &str) -> ExitCode {
    term::note(&format!("there is no state of `{name}` in {}", path.display()));
    ExitCode::from(exit::NOTHING)
}

/// Renders "1 entry" or "3 entries".
pub fn count_entries(count: u64) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

/// Renders the owner of a space; opaque for callers.
pub fn space_name(space: &StateSpace) -> String {
    match space {
        StateSpace::Shared => "shared".to_owned(),
        StateSpace::Caller(caller) => caller.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
