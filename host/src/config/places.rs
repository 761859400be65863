//! Where the host keeps what is its own.

use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

use super::Setting;

/// The platform's cache folder for compiled components; where there is no home, the user's own temporary folder.
pub fn cache() -> PathBuf {
    choose_base_strategy().map_or_else(|_| temporary(), |base| base.cache_dir().join("loggia"))
}

/// The platform's folder for what must last: plugins' state. Its data folder where it has none for state; where there
/// is no home, the user's own temporary folder.
pub fn state() -> PathBuf {
    let base = choose_base_strategy().map(|base| base.state_dir().unwrap_or_else(|| base.data_dir()));
    base.map_or_else(|_| temporary(), |base| base.join("loggia"))
}

/// One name for each user: a folder of another user's is refused, so nobody should happen upon one.
fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("loggia-{}", rustix::process::geteuid().as_raw()))
}

/// The user's home folder, which `~` in a policy means.
pub fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// What a policy in this folder depends on, as this process has it.
pub fn setting(folder: &Path) -> Setting<'_> {
    Setting { folder, home: home(), variable: &variable }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
