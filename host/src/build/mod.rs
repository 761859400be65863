//! Builds plugin sources into a folder that can be served: components with their policies, and workflow files.
//!
//! | file | concept |
//! |---|---|
//! | `workflows.rs` | workflow files beside the sources |
//! | `granted.rs` | creates directories that policies grant |

pub mod granted;
pub mod workflows;

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;

/// Target of plugins.
pub const TARGET: &str = "wasm32-wasip2";

/// Size-optimised profile, like `guest` of this repository; passed on the command line, so that an author's crate needs
/// no profile. Keeps the name section, so that backtraces of traps name functions.
const PROFILE: &[&str] = &[
    "profile.loggia-guest.inherits='release'",
    "profile.loggia-guest.opt-level='s'",
    "profile.loggia-guest.lto=true",
    "profile.loggia-guest.codegen-units=1",
    "profile.loggia-guest.panic='abort'",
    "profile.loggia-guest.debug=false",
    "profile.loggia-guest.strip='debuginfo'",
];

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
    /// A crate does not compile; cargo printed the errors.
    #[error("the plugins do not compile (see above)")]
    Compile,
    /// An output cannot be written.
    #[error("failed to write {0}")]
    Write(PathBuf, #[source] io::Error),
}

/// A plugin crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginSource {
    /// Name of the crate and of its facade.
    pub name: String,
    /// Path of its `Cargo.toml`.
    pub manifest: PathBuf,
}

impl PluginSource {
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
        let packages = read_metadata(&manifest)?.packages;
        // A workspace lists all its members; only those under the path are requested.
        let plugins = packages.into_iter().filter(|p| p.manifest_path.starts_with(&path) && p.is_plugin());
        sources.extend(plugins.map(|p| PluginSource { name: p.name, manifest: p.manifest_path }));
    }
    if sources.is_empty() {
        return Err(BuildError::Nothing(path));
    }
    Ok(sources.into_iter().collect())
}

/// Builds the crates; puts `<name>.wasm` and, if the crate has one, `<name>.toml` into `out`.
///
/// # Errors
///
/// If one does not compile (cargo prints the errors to stderr), or an output cannot be written.
pub fn build_sources(sources: &[PluginSource], out: &Path) -> Result<Vec<BuiltPlugin>, BuildError> {
    fs::create_dir_all(out).map_err(|e| BuildError::Write(out.to_owned(), e))?;
    let mut built = Vec::new();
    for source in sources {
        let component = compile_source(source)?;
        let file = out.join(format!("{}.wasm", source.name));
        // The policy first: a plugin must not be served without it, or with an older one.
        if let Some(policy) = source.policy() {
            let beside = file.with_extension("toml");
            place_file(&policy, &beside).map_err(|e| BuildError::Write(beside.clone(), e))?;
        }
        let PlacedFile { bytes, .. } =
            place_file(&component, &file).map_err(|e| BuildError::Write(file.clone(), e))?;
        built.push(BuiltPlugin { name: source.name.clone(), file, bytes });
    }
    Ok(built)
}

/// Copies a file atomically, so that a serving host never reads a part. Skips an identical file.
fn place_file(from: &Path, to: &Path) -> io::Result<PlacedFile> {
    let bytes = fs::read(from)?;
    let size = bytes.len() as u64;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(PlacedFile { bytes: size, is_new: false });
    }
    let folder = to.parent().unwrap_or(Path::new("."));
    // Temporary files are private; the server may run as another user.
    let readable = fs::Permissions::from_mode(0o644);
    let mut file = tempfile::Builder::new().prefix(".loggia-").permissions(readable).tempfile_in(folder)?;
    file.write_all(&bytes)?;
    file.persist(to)?;
    Ok(PlacedFile { bytes: size, is_new: true })
}

fn compile_source(source: &PluginSource) -> Result<PathBuf, BuildError> {
    let mut child = cargo()
        // An additional rlib would prevent optimisation across crates.
        .args(["rustc", "--lib", "--crate-type", "cdylib", "--profile", "loggia-guest", "--target", TARGET])
        .args(PROFILE.iter().flat_map(|setting| ["--config", setting]))
        .args(["--message-format", "json-render-diagnostics", "--manifest-path"])
        .arg(&source.manifest)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| BuildError::Tool("cargo", e))?;
    let mut component = None;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Message>(&line) else { continue };
            if message.manifest_path.as_deref() == Some(&source.manifest) {
                component =
                    message.filenames.into_iter().find(|f| f.extension().is_some_and(|e| e == "wasm"));
            }
        }
    }
    let status = child.wait().map_err(|e| BuildError::Tool("cargo", e))?;
    component.filter(|_| status.success()).ok_or(BuildError::Compile)
}

/// Creates a cargo command without the environment of an outer cargo.
fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    for (key, _) in std::env::vars_os() {
        let name = key.to_string_lossy();
        let outer = name.starts_with("CARGO")
            && !matches!(&*name, "CARGO_HOME" | "CARGO_TARGET_DIR" | "CARGO_NET_OFFLINE");
        if outer || name == "RUSTFLAGS" {
            cargo.env_remove(key);
        }
    }
    cargo
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

fn read_metadata(manifest: &Path) -> Result<Metadata, BuildError> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| BuildError::Tool("cargo", e))?;
    let stderr = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    serde_json::from_slice(&output.stdout).map_err(|_| BuildError::Manifest(manifest.to_owned(), stderr()))
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<TargetKind>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct TargetKind {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
}

impl Package {
    fn is_plugin(&self) -> bool {
        let cdylib = self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "cdylib"));
        cdylib && self.dependencies.iter().any(|dependency| dependency.name == "loggia-sdk")
    }
}

/// Messages of cargo that name artifacts.
#[derive(Deserialize)]
struct Message {
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}
