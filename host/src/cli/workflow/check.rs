//! `loggia workflow check`.

use std::process::ExitCode;

/// To be written.
#[derive(clap::Args)]
pub struct Check {}

impl Check {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::bail!("to be written")
    }
}
