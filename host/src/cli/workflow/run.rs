//! `loggia workflow run`.

use std::process::ExitCode;

/// To be written.
#[derive(clap::Args)]
pub struct Run {}

impl Run {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::bail!("to be written")
    }
}
