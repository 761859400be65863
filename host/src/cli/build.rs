//! `loggia build`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use loggia_policy::settings::Level;

use super::term;
use crate::{
    build,
    build::{BuildError, BuiltPlugin, PluginSource, granted, workflows},
    load::FacadeKind,
    telemetry::logs,
};

/// Build plugin sources to .wasm files.
///
/// Finds the plugin crates under PATH (each a cdylib that depends on loggia-sdk) and builds them, optimised for size,
/// for the target wasm32-wasip2; installs the target if it is missing. Copies the policy file <name>.toml of each
/// crate, and the workflow files (<name>.workflow.yaml) of the folder PATH with their policies. Creates missing
/// directories beside DIR that a policy grants, such as ../data.
#[derive(clap::Args)]
pub struct BuildCommand {
    /// A plugin crate, or a folder of them
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Output folder for the .wasm files
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
}

impl BuildCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let workflows = workflows::find_workflows(&self.path);
        let sources = match build::find_sources(&self.path) {
            Err(BuildError::Nothing(_)) if !workflows.is_empty() => Vec::new(),
            found => found?,
        };
        if !sources.is_empty() {
            build::ensure_target()?;
        }
        let failed = || format!("failed to create {}", self.out.display());
        fs::create_dir_all(&self.out).with_context(failed)?;
        // Directories first, so that a serving host does not try a plugin without them.
        let folder = fs::canonicalize(&self.out).with_context(failed)?;
        sources.iter().for_each(|source| create_granted(source, &folder));
        let failed = build::build_sources(&sources, &self.out, |BuiltPlugin { name, file, bytes }| {
            print_built(name, *bytes, file);
        })?;
        for file in workflows {
            let bytes = workflows::place_workflow(&file, &self.out)?.bytes;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            // Policies are copied silently.
            if let Some((FacadeKind::Workflows, stem)) = FacadeKind::from_file_name(&name) {
                print_built(stem, bytes, &self.out.join(&*name));
            }
        }
        if failed.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(BuildError::Compile(failed).into()) }
    }
}

fn print_built(name: &str, bytes: u64, file: &Path) {
    term::print(&format!("{name}\t{} KB\t{}", bytes.div_ceil(1000), file.display()));
}

/// Creates directories that a crate's policy grants beside the folder, and reports those that remain missing.
fn create_granted(source: &PluginSource, folder: &Path) {
    let Some(policy) = source.policy().and_then(|policy| fs::read_to_string(policy).ok()) else { return };
    let folders = granted::create_missing(&policy, folder);
    for path in folders.created {
        term::note(&format!("created {}, granted by {}.toml", path.display(), source.name));
    }
    for path in folders.missing {
        let path = path.display();
        term::note(&format!(
            "{0}.toml grants {path}, which does not exist; {0} is served once it does (mkdir -p {path})",
            source.name
        ));
    }
}
