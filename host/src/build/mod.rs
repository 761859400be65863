//! Builds plugin sources into a folder that can be served: components with their policies, and workflow files.
//!
//! | file | concept |
//! |---|---|
//! | `source.rs` | plugin crates, found under a path |
//! | `cargo.rs` | cargo: its command, and the crates that it knows |
//! | `compile.rs` | crates to components |
//! | `error.rs` | build errors |
//! | `workflows.rs` | workflow files beside the sources |
//! | `granted.rs` | creates directories that policies grant |

mod cargo;
mod compile;
mod error;
pub mod granted;
mod source;
pub mod workflows;

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use loggia_system::file::{FileReaders, temporary_in};

use self::compile::compile_sources;
pub use self::{
    error::{BuildError, TARGET},
    source::{PluginSource, find_sources},
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
