//! `loggia build`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;

use super::term;
use crate::{
    build,
    build::{BuildError, Built, Source, granted, workflows},
    load::Kind,
    telemetry::{logs, logs::Level},
};

/// Build plugin sources to .wasm files.
///
/// Finds every plugin crate (a cdylib that depends on loggia-sdk) under PATH and builds it, optimised for size, for
/// the target wasm32-wasip2, which is added where it is missing. A policy file <name>.toml in the crate's folder goes
/// along, and so do the workflow files (<name>.workflow.yaml) of the folder PATH, with theirs. What a policy grants
/// beside DIR, as ../data, is made where it is missing.
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
        logs::start_plain(Level::Warn);
        let workflows = workflows::find(&self.path);
        let sources = match build::find(&self.path) {
            Err(BuildError::Nothing(_)) if !workflows.is_empty() => Vec::new(),
            found => found?,
        };
        if !sources.is_empty() {
            build::ensure_target()?;
        }
        let failed = || format!("failed to make {}", self.out.display());
        fs::create_dir_all(&self.out).with_context(failed)?;
        // First, so that a host that serves the folder does not try a plugin without them.
        let folder = fs::canonicalize(&self.out).with_context(failed)?;
        sources.iter().for_each(|source| make_granted(source, &folder));
        for Built { name, file, bytes } in build::build(&sources, &self.out)? {
            built(&name, bytes, &file);
        }
        for file in workflows {
            let bytes = workflows::put(&file, &self.out)?.bytes;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            // Policies go along, and nothing is said of them.
            if let Some((Kind::Workflows, stem)) = Kind::of(&name) {
                built(stem, bytes, &self.out.join(&*name));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn built(name: &str, bytes: u64, file: &Path) {
    term::out(&format!("{name}\t{} KB\t{}", bytes.div_ceil(1000), file.display()));
}

/// Makes what a crate's policy grants beside the folder, and says what is left to make.
fn make_granted(source: &Source, folder: &Path) {
    let Some(policy) = source.policy().and_then(|policy| fs::read_to_string(policy).ok()) else { return };
    let folders = granted::make_missing(&policy, folder);
    for path in folders.made {
        term::note(&format!("made {}, which {}.toml grants", path.display(), source.name));
    }
    for path in folders.missing {
        let path = path.display();
        term::note(&format!(
            "{0}.toml grants {path}, which does not exist: {0} is not served before it does (mkdir -p {path})",
            source.name
        ));
    }
}
