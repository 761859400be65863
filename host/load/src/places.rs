//! Folders of the host, and the context of its documents.

use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};
use loggia_credentials::VaultKey;
use loggia_policy::PolicySetting;

/// Error of a folder without default: there is no home directory. The temporary folder is no alternative, since another user
/// could own a folder in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no home directory: set the folder of {content} with {flag} DIR or {variable}")]
pub struct NoDefaultFolder {
    content: &'static str,
    flag: &'static str,
    variable: &'static str,
}

/// Returns the platform's cache folder, for compiled components.
///
/// # Errors
///
/// If there is no home directory.
pub fn cache() -> Result<PathBuf, NoDefaultFolder> {
    let error = NoDefaultFolder { content: "the cache", flag: "--cache", variable: "LOGGIA_CACHE" };
    choose_base_strategy().map(|base| base.cache_dir().join("loggia")).map_err(|_| error)
}

/// Returns the platform's state folder, for the state of plugins. Falls back to its data folder if it has none for state.
///
/// # Errors
///
/// If there is no home directory.
pub fn state() -> Result<PathBuf, NoDefaultFolder> {
    let error = NoDefaultFolder { content: "the state", flag: "--state", variable: "LOGGIA_STATE" };
    let base = choose_base_strategy().map_err(|_| error)?;
    Ok(base.state_dir().unwrap_or_else(|| base.data_dir()).join("loggia"))
}

/// Variable with the key of callers' credentials.
const VAULT_KEY: &str = "LOGGIA_CREDENTIAL_KEY";

/// Returns the key of callers' credentials from the environment; `None` if that of the state folder applies.
///
/// # Errors
///
/// If the variable does not hold a key.
pub fn vault_key() -> Result<Option<VaultKey>, String> {
    let key = variable(VAULT_KEY).filter(|text| !text.trim().is_empty());
    key.map(|text| VaultKey::parse(&text)).transpose().map_err(|reason| format!("{VAULT_KEY} {reason}"))
}

/// Returns the user's home folder, to which `~` expands.
pub fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// Returns the context of documents in a folder: home folder and environment of this process.
pub fn setting(folder: &Path) -> PolicySetting<'_> {
    PolicySetting { folder, home: home(), variable: &variable }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
