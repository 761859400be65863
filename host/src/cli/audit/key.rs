//! `loggia audit key`.

use std::{path::Path, process::ExitCode};

use loggia_audit::AuditKey;

use crate::cli::{exit, term};

/// Print the public key that verifies the trail.
///
/// Keep it on another machine: whoever takes over the server can sign with its key, but cannot change what was verified before.
#[derive(clap::Args)]
pub struct KeyCommand {}

impl KeyCommand {
    pub fn run(self, state: &Path) -> anyhow::Result<ExitCode> {
        let Some(key) = AuditKey::read(state)? else {
            term::note(&format!(
                "{} has no audit key; the first server with `audit.file` creates it",
                state.display()
            ));
            return Ok(ExitCode::from(exit::NOTHING));
        };
        term::print(&key.public().to_string());
        Ok(ExitCode::SUCCESS)
    }
}
