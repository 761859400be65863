//! `loggia policy init`.

use std::{
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, bail};
use loggia_builder::{BuildError, BuildPurpose, PluginSource};
use loggia_load::{explain::draft_policy, find_plugin};
use loggia_policy::settings::Level;
use loggia_serve::PluginHost;
use loggia_system::file::{FileReaders, temporary_in};
use loggia_telemetry::logs;
use loggia_text::printable;

use crate::cli::{
    common::{LoadOptions, UsageError, io_runtime},
    exit, term,
};

/// Create a policy that lists what a plugin requests, with its reasons, all commented out.
///
/// The policy grants nothing until you uncomment what you grant. Does not replace an existing policy without --force.
///
/// For the folder of a plugin's sources, builds the plugin and writes the policy beside its manifest, from where `build` and `dev`
/// copy it.
///
/// Exits with 10 if the plugin does not load.
#[derive(clap::Args)]
pub struct InitCommand {
    /// Plugin file, or the folder of its sources; the policy is written there, as <name>.toml
    #[arg(value_name = "FILE.wasm|DIR")]
    file: PathBuf,
    /// Replace an existing policy
    #[arg(long)]
    force: bool,
    /// Print the policy instead of writing a file
    #[arg(long)]
    stdout: bool,
    #[command(flatten)]
    common: LoadOptions,
}

impl InitCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Error);
        let source = match self.file.is_dir() {
            true => Some(find_source(&self.file)?),
            false if self.file.extension().is_none_or(|ending| ending != "wasm") => {
                let file = self.file.display();
                bail!(UsageError(format!(
                    "{file} is not a plugin: pass a .wasm file, or the folder of its sources"
                )));
            }
            false => None,
        };
        let path = match &source {
            Some(source) => source.folder.join(format!("{}.toml", source.name)),
            None => self.file.with_extension("toml"),
        };
        // Checked before the plugin is compiled, which may take a while.
        if !self.stdout && !self.force && path.symlink_metadata().is_ok() {
            bail!(exists_message(&path));
        }
        // Removed at the end.
        let built = tempfile::tempdir()?;
        let file = match &source {
            Some(source) => build_alone(source, built.path())?,
            None => self.file.clone(),
        };
        let mut found = find_plugin(&file).with_context(|| format!("failed to read {}", file.display()))?;
        // An existing policy has no influence, even if it is invalid.
        found.policy = None;
        let host = PluginHost::new(&self.common.host_options()?)?;
        let admitted = match io_runtime()?.block_on(host.admitter.admit(&found, None)) {
            Ok(admitted) => admitted,
            Err(error) => {
                let message = format!("{} does not load: {error}", self.file.display());
                term::print_error(&anyhow!("{}", printable(&message)));
                return Ok(ExitCode::from(exit::REFUSED));
            }
        };
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = draft_policy(admitted.entry.surface(), &name);
        if self.stdout {
            term::print(text.trim_end());
        } else {
            write_policy(&path, &text, self.force)?;
            term::print(&format!("wrote {}; it grants nothing until you edit it", path.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Finds the only plugin whose sources are in a folder.
fn find_source(folder: &Path) -> anyhow::Result<PluginSource> {
    let mut sources = loggia_builder::find_sources(folder)?;
    match (sources.pop(), sources.is_empty()) {
        (Some(source), true) => Ok(source),
        (last, _) => {
            let names: Vec<String> = sources.into_iter().chain(last).map(|source| source.name).collect();
            let folder = folder.display();
            bail!(UsageError(format!(
                "{folder} has several plugins, {}: pass the folder of one",
                names.join(", ")
            )))
        }
    }
}

/// Builds a plugin into a folder; returns its file.
fn build_alone(source: &PluginSource, out: &Path) -> anyhow::Result<PathBuf> {
    if source.is_crate() {
        loggia_builder::ensure_target()?;
    }
    let mut file = None;
    loggia_builder::build_sources(&[source], out, BuildPurpose::Serve, |built| {
        file = Some(built.file.clone())
    })?;
    Ok(file.ok_or_else(|| BuildError::Compile(vec![source.name.clone()]))?)
}

fn exists_message(path: &Path) -> String {
    format!("{} already exists; --force replaces it, --stdout prints the policy instead", path.display())
}

/// Writes the file atomically. Without `force`, fails if the file exists, even if it was created a moment ago.
fn write_policy(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let failed = || format!("failed to write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = temporary_in(folder, ".policy", FileReaders::Default).with_context(failed)?;
    beside.write_all(text.as_bytes()).with_context(failed)?;
    let written = if force { beside.persist(path) } else { beside.persist_noclobber(path) };
    match written {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => bail!(exists_message(path)),
        Err(error) => Err(error.error).with_context(failed),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_policy_is_replaced_only_with_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.toml");
        write_policy(&path, "one", false).unwrap();
        let message = write_policy(&path, "two", false).unwrap_err().to_string();
        assert!(message.contains("already exists"), "{message}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write_policy(&path, "two", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left there");
    }
}
