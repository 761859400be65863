//! `loggia workflow eval`.

use std::process::ExitCode;

/// To be written.
#[derive(clap::Args)]
pub struct Eval {}

impl Eval {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::bail!("to be written")
    }
}
