//! `loggia workflow graph`.

use std::process::ExitCode;

/// To be written.
#[derive(clap::Args)]
pub struct Graph {}

impl Graph {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::bail!("to be written")
    }
}
