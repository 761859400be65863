//! Builds plugin sources into a folder that can be served: components with their policies, and workflow files.
//!
//! | file | concept |
//! |---|---|
//! | `cargo.rs` | cargo: its command, and the crates that it knows |
//! | `compile.rs` | crates to components |
//! | `workflows.rs` | workflow files beside the sources |
//! | `granted.rs` | creates directories that policies grant |

mod cargo;
mod compile;
pub mod granted;
pub mod workflows;

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use loggia_system::file::{FileReaders, temporary_in};

use self::{
    cargo::{CrateMetadata, read_metadata},
    compile::compile_sources,
};

/// Target of plugins.
pub const TARGET: &str = "wasm32-wasip2";

/// Build errors.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no plugin crate.
    #[error(
        "no plugin crate under {0}: a plugin's Cargo.toml has crate-type = [\"cdylib\"] under [lib] and depends on \
         loggia-sdk"
    )]
    Nothing(PathBuf),
    /// The target is missing and cannot be installed.
    #[error("the target {TARGET} is not installed: run `rustup target add {TARGET}`")]
    Target,
    /// cargo or rustc cannot be run.
    #[error("failed to run `{0}` (is Rust installed? See https://rustup.rs)")]
    Tool(&'static str, #[source] io::Error),
    /// cargo rejects a manifest.
    #[error("cargo cannot read {0}:\n{1}")]
    Manifest(PathBuf, String),
    /// Crates do not compile; cargo printed the errors.
    #[error("{} not compile (see above)", names_do(.0))]
    Compile(Vec<String>),
    /// An output cannot be written.
    #[error("failed to write {0}")]
    Write(PathBuf, #[source] io::Error),
}

/// Names plugins as the subject of a sentence.
fn names_do(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{} {}", quoted.join(", "), if names.len() == 1 { "does" } else { "do" })
}

/// A plugin crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginSource {
    /// Name of the crate and of its facade.
    pub name: String,
    /// Path of its `Cargo.toml`.
    pub manifest: PathBuf,
    /// Cargo's identifier of the crate.
    id: String,
    /// Folder of its workspace: its own if it has none.
    workspace: PathBuf,
    /// Whether its library is a component and nothing else.
    is_component_only: bool,
}

impl PluginSource {
    /// A crate of its own in a folder.
    #[cfg(test)]
    pub(crate) fn example(name: &str, folder: &Path) -> Self {
        let own = folder.join(name);
        Self {
            name: name.to_owned(),
            manifest: own.join("Cargo.toml"),
            id: format!("path+file://{}#0.1.0", own.display()),
            workspace: own,
            is_component_only: true,
        }
    }

    /// Path of the policy in the crate's folder, if any.
    pub fn policy(&self) -> Option<PathBuf> {
        Some(self.manifest.with_file_name(format!("{}.toml", self.name))).filter(|policy| policy.is_file())
    }
}

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

/// Finds the plugin crates under a path.
///
/// # Errors
///
/// If there is none, or cargo rejects a manifest.
pub fn find_sources(path: &Path) -> Result<Vec<PluginSource>, BuildError> {
    let path = fs::canonicalize(path).map_err(|_| BuildError::Nothing(path.to_owned()))?;
    let mut sources = BTreeSet::new();
    for manifest in find_manifests(&path) {
        if sources.iter().any(|source: &PluginSource| source.manifest == manifest) {
            continue;
        }
        let CrateMetadata { packages, workspace_root } = read_metadata(&manifest)?;
        // A workspace lists all its members; only those under the path are requested.
        let plugins = packages.into_iter().filter(|p| p.manifest_path.starts_with(&path) && p.is_plugin());
        sources.extend(plugins.map(|plugin| PluginSource {
            is_component_only: plugin.is_component_only(),
            name: plugin.name,
            manifest: plugin.manifest_path,
            id: plugin.id,
            workspace: workspace_root.clone(),
        }));
    }
    if sources.is_empty() {
        return Err(BuildError::Nothing(path));
    }
    Ok(sources.into_iter().collect())
}

/// Builds the crates; puts `<name>.wasm` and, if the crate has one, `<name>.toml` into `out` as soon as it is built, and reports
/// it. Returns the names of the crates that do not compile; cargo prints their errors to stderr.
///
/// # Errors
///
/// If cargo cannot be run, or an output cannot be written.
pub fn build_sources(
    sources: &[PluginSource],
    out: &Path,
    mut report: impl FnMut(&BuiltPlugin),
) -> Result<Vec<String>, BuildError> {
    fs::create_dir_all(out).map_err(|e| BuildError::Write(out.to_owned(), e))?;
    let mut failed: BTreeSet<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    compile_sources(sources, |source, component| {
        let built = place_plugin(source, component, out)?;
        failed.remove(source.name.as_str());
        report(&built);
        Ok(())
    })?;
    Ok(failed.into_iter().map(str::to_owned).collect())
}

/// Copies a component and its policy into a folder.
fn place_plugin(source: &PluginSource, component: &Path, out: &Path) -> Result<BuiltPlugin, BuildError> {
    let file = out.join(format!("{}.wasm", source.name));
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

/// Finds every `Cargo.toml` under a path, except in outputs of cargo and of editors.
fn find_manifests(path: &Path) -> Vec<PathBuf> {
    const DEPTH: usize = 4;
    let mut found = Vec::new();
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let manifest = folder.join("Cargo.toml");
        if manifest.is_file() {
            found.push(manifest);
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| {
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            depth < DEPTH && !hidden && name != "target" && entry.file_type().is_ok_and(|t| t.is_dir())
        });
        folders.extend(below.map(|entry| (entry.path(), depth + 1)));
    }
    found.sort();
    found
}
