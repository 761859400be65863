//! `loggia build`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, ensure};
use loggia_builder::{
    self, BuildError, BuildPurpose, BuildResults, BuiltPlugin, PluginSource, granted, workflows,
};
use loggia_load::FileKind;
use loggia_policy::settings::Level;
use loggia_telemetry::logs;
use loggia_workbench::loaded::load_path;

use super::{common::LoadOptions, exit, term};

/// Build plugin sources to .wasm files.
///
/// Finds the plugins under PATH and builds them: crates (each a cdylib that depends on loggia-sdk or wit-bindgen), Python,
/// JavaScript and TypeScript projects that depend on loggia-sdk, and folders with a plugin.toml, whose command runs with your
/// rights. Crates are optimised for size, for the target wasm32-wasip2, which is installed if it is missing. Guards go into the
/// folder `guards` of DIR. Copies the policy file <name>.toml of each plugin, and the workflow files (<name>.workflow.yaml) of the
/// folder PATH with their policies. Creates missing directories beside DIR that a policy grants, such as ../data. Then loads what
/// was built, as `loggia check DIR` does.
///
/// Exits with 1 if a plugin does not build, and with 10 if one does not load.
#[derive(clap::Args)]
pub struct BuildCommand {
    /// The folder of a plugin's sources, or a folder of them
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Output folder for the .wasm files
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
    /// Do not load the built plugins
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    common: LoadOptions,
}

impl BuildCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        ensure!(self.path.exists(), "there is no {}", self.path.display());
        let workflows = workflows::find_workflows(&self.path);
        let sources = match loggia_builder::find_sources(&self.path) {
            Err(BuildError::Nothing(_)) if !workflows.is_empty() => Vec::new(),
            found => found?,
        };
        if sources.iter().any(PluginSource::is_crate) {
            loggia_builder::ensure_target()?;
        }
        let failed = || format!("failed to create {}", self.out.display());
        fs::create_dir_all(&self.out).with_context(failed)?;
        // Directories first, so that a serving host does not try a plugin without them.
        let folder = fs::canonicalize(&self.out).with_context(failed)?;
        sources.iter().for_each(|source| create_granted(source, &folder));
        let mut built = BTreeSet::new();
        let due: Vec<&PluginSource> = sources.iter().collect();
        let BuildResults { failed, .. } = loggia_builder::build_sources(
            &due,
            &self.out,
            BuildPurpose::Serve,
            |BuiltPlugin { name, bytes, file }| {
                built.extend(file.file_name().map(|file| file.to_string_lossy().into_owned()));
                print_built(name, *bytes, file);
            },
        )?;
        for file in workflows {
            let bytes = workflows::place_workflow(&file, &self.out)?.bytes;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            // Policies are copied silently.
            if let Some((FileKind::Workflows, stem)) = FileKind::from_file_name(&name) {
                print_built(stem, bytes, &self.out.join(&*name));
                built.insert(name.into_owned());
            }
        }
        // Mistakes of what was built are reported even if something else was not built.
        let loads = self.no_check || self.check(&built)?;
        if !failed.is_empty() {
            let names = failed.into_iter().map(|failure| failure.name);
            return Err(BuildError::Compile(names.collect()).into());
        }
        Ok(if loads { ExitCode::SUCCESS } else { ExitCode::from(exit::REFUSED) })
    }

    /// Loads the output folder, and reports what is wrong with these files in it; returns whether they would all be served. Guards
    /// are loaded by the settings that name them, not by the folder.
    fn check(&self, built: &BTreeSet<String>) -> anyhow::Result<bool> {
        if built.is_empty() {
            return Ok(true);
        }
        let plugins = load_path(&self.out, &self.common.host_options()?)?;
        let mut loads = true;
        for plugin in plugins.iter().filter(|plugin| built.contains(&plugin.file)) {
            if let Some(why) = plugin.refusal() {
                loads = false;
                term::print_error(&anyhow!("{}: {why}", plugin.file));
            }
            let lacking = plugin.loaded.iter().flat_map(|(_, facts)| &facts.lacking);
            lacking.for_each(|lacking| term::note(&format!("{} {lacking}", plugin.stem())));
        }
        Ok(loads)
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
