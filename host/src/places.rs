//! Where the host keeps what is its own.

use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};
use loggia_policy::PolicySetting;

/// A folder that has no place by default: there is no home directory, and a folder below the temporary one could be
/// somebody else's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no home directory: say where {what} is to be kept, with {flag} DIR or {variable}")]
pub struct NoPlace {
    what: &'static str,
    flag: &'static str,
    variable: &'static str,
}

/// The platform's cache folder for compiled components.
///
/// # Errors
///
/// If there is no home directory.
pub fn cache() -> Result<PathBuf, NoPlace> {
    let none = NoPlace { what: "the cache", flag: "--cache", variable: "LOGGIA_CACHE" };
    choose_base_strategy().map(|base| base.cache_dir().join("loggia")).map_err(|_| none)
}

/// The platform's folder for what must last: plugins' state. Its data folder where it has none for state.
///
/// # Errors
///
/// If there is no home directory.
pub fn state() -> Result<PathBuf, NoPlace> {
    let none = NoPlace { what: "state", flag: "--state", variable: "LOGGIA_STATE" };
    let base = choose_base_strategy().map_err(|_| none)?;
    Ok(base.state_dir().unwrap_or_else(|| base.data_dir()).join("loggia"))
}

/// The user's home folder, which `~` in a policy means.
pub fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// What a policy in this folder depends on, as this process has it.
pub fn setting(folder: &Path) -> PolicySetting<'_> {
    PolicySetting { folder, home: home(), variable: &variable }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
