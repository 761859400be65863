//! `loggia build`.

use std::{path::PathBuf, process::ExitCode};

use super::term;
use crate::{
    build::{self, Built},
    telemetry::logs::{self, Level},
};

/// Build plugin sources to .wasm files.
///
/// Finds every plugin crate (a cdylib that depends on loggia-sdk) under PATH and builds it, optimised for size, for
/// the target wasm32-wasip2, which is added where it is missing. A policy file <name>.toml in the crate's folder goes
/// along.
#[derive(clap::Args)]
pub struct Build {
    /// A plugin crate, or a folder of them
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Where the .wasm files go
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
}

impl Build {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::at(Level::Warn);
        build::ensure_target()?;
        for Built { name, file, bytes } in build::build(&build::find(&self.path)?, &self.out)? {
            term::out(&format!("{name}\t{} KB\t{}", bytes.div_ceil(1000), file.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}
