//! The stores of a state folder, and how they are named.

use std::{path::Path, process::ExitCode};

use loggia_state::{StateFolder, StateSpace, StateStore};

use crate::cli::{exit, term};

/// The state folder, if there is one: to look does not make it.
pub fn folder(path: &Path) -> anyhow::Result<Option<StateFolder>> {
    Ok(path.exists().then(|| StateFolder::open(path)).transpose()?)
}

/// The store of this name, if there is one.
pub fn store(path: &Path, name: &str) -> anyhow::Result<Option<StateStore>> {
    let Some(folder) = folder(path)? else { return Ok(None) };
    // Says what a name may be, before it says that there is none.
    let store = folder.store(name, u64::MAX)?;
    Ok(folder.names()?.iter().any(|there| there == name).then_some(store))
}

/// What a command says and ends with where there is no such store.
pub fn nothing(path: &Path, name: &str) -> ExitCode {
    term::note(&format!("there is no state of `{name}` in {}", path.display()));
    ExitCode::from(exit::NOTHING)
}

/// "1 entry" or "3 entries".
pub fn entries(count: u64) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

/// Whose space it is: opaque for a caller.
pub fn whose(space: &StateSpace) -> String {
    match space {
        StateSpace::Shared => "shared".to_owned(),
        StateSpace::Caller(caller) => caller.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
