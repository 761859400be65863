//! Builds plugin sources into a folder that can be served: components with their policies, and workflow files.
//!
//! | file | concept |
//! |---|---|
//! | `find.rs` | finds sources under a path |
//! | `source.rs` | the sources of a plugin, as data |
//! | `manifest.rs`, `python.rs`, `script.rs` | sources that processes build |
//! | `tool_folder.rs`, `steps.rs` | what such builds write, and the processes |
//! | `cargo.rs`, `compile.rs` | cargo, and crates to components |
//! | `reason.rs` | pure: why a build failed, for clients |
//! | `tool_output.rs`, `file_digest.rs` | which files are the author's, and their digests |
//! | `inputs.rs` | the files from which sources are built |
//! | `depfile.rs` | lists of inputs that builders write |
//! | `outside_inputs.rs` | listed files outside the path of the sources |
//! | `built_inputs.rs` | what a component was built from, kept beside it |
//! | `error.rs` | build errors |
//! | `workflows.rs` | workflow files beside the sources |
//! | `granted.rs` | creates directories that policies grant |

mod built_inputs;
mod cargo;
mod compile;
mod depfile;
mod error;
mod file_digest;
mod find;
pub mod granted;
mod inputs;
mod manifest;
mod outside_inputs;
mod python;
mod reason;
mod script;
mod source;
mod steps;
mod tool_folder;
mod tool_output;
pub mod workflows;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use loggia_system::file::{FileReaders, temporary_in};

use self::{
    built_inputs::BuiltInputs, compile::compile_sources, depfile::read_outside, source::CrateSource,
    steps::run_steps,
};
pub use self::{
    compile::BuildPurpose,
    error::{BuildError, TARGET},
    file_digest::InputDigest,
    find::find_sources,
    inputs::{InputSurvey, digest_folder},
    outside_inputs::OutsideInputs,
    source::PluginSource,
    tool_output::is_input_path,
};

/// A built component.
#[derive(Debug)]
pub struct BuiltPlugin {
    /// Name of the crate.
    pub name: String,
    /// Path of the component.
    pub file: PathBuf,
    /// Size of the component.
    pub bytes: u64,
}

/// A copied file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedFile {
    /// Size of the file.
    pub bytes: u64,
    /// Whether it differs from the previous file.
    pub is_new: bool,
}

/// Installs the target if it is missing.
///
/// # Errors
///
/// If it cannot be installed.
pub fn ensure_target() -> Result<(), BuildError> {
    let libdir = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| BuildError::Tool("rustc", e))?;
    if Path::new(String::from_utf8_lossy(&libdir.stdout).trim()).is_dir() {
        return Ok(());
    }
    tracing::warn!("adding the target {TARGET}");
    let added = Command::new("rustup")
        .args(["target", "add", TARGET])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    if added.is_ok_and(|status| status.success()) { Ok(()) } else { Err(BuildError::Target) }
}

/// A plugin that does not build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildFailure {
    /// Name of the plugin.
    pub name: String,
    /// Why, on one line, without paths of this machine.
    pub reason: String,
}

/// What became of a build of several sources.
#[derive(Debug, Default)]
pub struct BuildResults {
    /// What does not build.
    pub failed: Vec<BuildFailure>,
    /// Files outside the folder of its sources from which each plugin was built, by its name, as far as its builder lists them.
    pub outside: BTreeMap<String, BTreeSet<PathBuf>>,
}

/// Builds sources; puts `<name>.wasm` (of a guard: `guards/<name>.wasm`) and, if the sources have one, `<name>.toml` into `out` as
/// soon as it is built, and reports it. The tools print their errors to stderr.
///
/// # Errors
///
/// If cargo cannot be run, or an output cannot be written.
pub fn build_sources(
    sources: &[&PluginSource],
    out: &Path,
    purpose: BuildPurpose,
    mut report: impl FnMut(&BuiltPlugin),
) -> Result<BuildResults, BuildError> {
    fs::create_dir_all(out).map_err(|e| BuildError::Write(out.to_owned(), e))?;
    let (crates, others): (Vec<_>, Vec<_>) = sources.iter().copied().partition(|source| source.is_crate());
    let mut built = Vec::new();
    let mut failed = compile_sources(&crates, purpose, |source, component| {
        report(&place_plugin(source, component, out)?);
        built.push((source.clone(), component.to_owned()));
        Ok(())
    })?;
    for source in others {
        let Some(build) = source.as_steps() else { continue };
        let inputs = BuiltInputs::read(source, build, out);
        if inputs.as_ref().is_some_and(|inputs| inputs.are_built(&build.artifact)) {
            report(&place_plugin(source, &build.artifact, out)?);
            built.push((source.clone(), build.artifact.clone()));
            continue;
        }
        inputs.iter().for_each(BuiltInputs::forget);
        match run_steps(build, &source.folder) {
            Ok(()) => {
                if let Some(inputs) = inputs {
                    inputs.keep(&build.artifact).map_err(|e| BuildError::Write(build.artifact.clone(), e))?;
                }
                report(&place_plugin(source, &build.artifact, out)?);
                built.push((source.clone(), build.artifact.clone()));
            }
            Err(reason) => failed.push((source.name.clone(), reason)),
        }
    }
    let failed = failed.into_iter().map(|(name, reason)| BuildFailure { name, reason }).collect();
    // Cargo writes its lists at the end.
    let outside =
        built.iter().map(|(source, component)| (source.name.clone(), list_outside(source, component)));
    Ok(BuildResults { failed, outside: outside.collect() })
}

/// Lists the files outside the folder of a source from which its component was built.
fn list_outside(source: &PluginSource, component: &Path) -> BTreeSet<PathBuf> {
    let mut files = read_outside(component, &source.folder);
    // Cargo lists no manifests.
    files.extend(source.as_crate().into_iter().flat_map(CrateSource::workspace_files));
    files
}

/// Puts the policy of a plugin that was built before, whether its newest source builds or not.
///
/// # Errors
///
/// If it cannot be written.
pub fn place_policy(source: &PluginSource, out: &Path) -> Result<(), BuildError> {
    let beside = out.join(format!("{}.toml", source.name));
    match source.policy().filter(|_| beside.with_extension("wasm").exists()) {
        Some(policy) => place_file(&policy, &beside).map(drop).map_err(|e| BuildError::Write(beside, e)),
        None => Ok(()),
    }
}

/// Folder of guards in the output: one that serves as plugin folder holds no other components.
const GUARDS: &str = "guards";

/// Copies a component and its policy into a folder.
fn place_plugin(source: &PluginSource, component: &Path, out: &Path) -> Result<BuiltPlugin, BuildError> {
    let file = format!("{}.wasm", source.name);
    let file = if source.is_guard { out.join(GUARDS).join(file) } else { out.join(file) };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|e| BuildError::Write(folder.to_owned(), e))?;
    }
    // The policy first: a plugin must not be served without it, or with an older one.
    if let Some(policy) = source.policy() {
        let beside = file.with_extension("toml");
        place_file(&policy, &beside).map_err(|e| BuildError::Write(beside.clone(), e))?;
    }
    let PlacedFile { bytes, .. } =
        place_file(component, &file).map_err(|e| BuildError::Write(file.clone(), e))?;
    Ok(BuiltPlugin { name: source.name.clone(), file, bytes })
}

/// Copies a file atomically, so that a serving host never reads a part. Skips an identical file.
fn place_file(from: &Path, to: &Path) -> io::Result<PlacedFile> {
    let bytes = fs::read(from)?;
    let size = bytes.len() as u64;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(PlacedFile { bytes: size, is_new: false });
    }
    let folder = to.parent().unwrap_or(Path::new("."));
    let mut file = temporary_in(folder, ".loggia-", FileReaders::Everyone)?;
    file.write_all(&bytes)?;
    file.persist(to)?;
    Ok(PlacedFile { bytes: size, is_new: true })
}
