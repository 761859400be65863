//! Plugin sources to a folder that can be served: components, by cargo, with their policies, and workflow files.
//!
//! | file | concept |
//! |---|---|
//! | `workflows.rs` | workflow files beside the sources |
//! | `granted.rs` | directories that policies grant, made where they are missing |

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

/// What plugins are compiled for.
pub const TARGET: &str = "wasm32-wasip2";

/// Optimised for size, like the `guest` profile of this repository; given on the command line, so that an author's
/// crate needs no profile of its own. The name section stays: a trap's backtrace names functions.
const PROFILE: &[&str] = &[
    "profile.loggia-guest.inherits='release'",
    "profile.loggia-guest.opt-level='s'",
    "profile.loggia-guest.lto=true",
    "profile.loggia-guest.codegen-units=1",
    "profile.loggia-guest.panic='abort'",
    "profile.loggia-guest.debug=false",
    "profile.loggia-guest.strip='debuginfo'",
];

/// Why plugins are not built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Nothing to build.
    #[error(
        "no plugin crate under {0}: a plugin's Cargo.toml has crate-type = [\"cdylib\"] under [lib] and depends on \
         loggia-sdk"
    )]
    Nothing(PathBuf),
    /// The target is missing and cannot be added.
    #[error("the target {TARGET} is not installed: run `rustup target add {TARGET}`")]
    Target,
    /// cargo or rustc cannot be run.
    #[error("failed to run `{0}` (is Rust installed? See https://rustup.rs)")]
    Tool(&'static str, #[source] io::Error),
    /// cargo does not understand a manifest.
    #[error("cargo cannot read {0}:\n{1}")]
    Manifest(PathBuf, String),
    /// A source does not compile; cargo said why.
    #[error("the plugins do not compile (see above)")]
    Compile,
    /// A result cannot be put where it belongs.
    #[error("failed to write {0}")]
    Write(PathBuf, #[source] io::Error),
}

/// One plugin crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginSource {
    /// The crate's name, which is the facade's.
    pub name: String,
    /// Its `Cargo.toml`.
    pub manifest: PathBuf,
}

impl PluginSource {
    /// The policy in the crate's folder, if it has one.
    pub fn policy(&self) -> Option<PathBuf> {
        Some(self.manifest.with_file_name(format!("{}.toml", self.name))).filter(|policy| policy.is_file())
    }
}

/// One component that was built.
#[derive(Debug)]
pub struct BuiltPlugin {
    /// The crate's name.
    pub name: String,
    /// Where the component is.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// A file that was put into the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedFile {
    /// Its size.
    pub bytes: u64,
    /// Whether it differs from the one that was there, if one was.
    pub is_new: bool,
}

/// Adds the target where it is missing.
///
/// # Errors
///
/// If it cannot be added.
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

/// The plugin crates under a path.
///
/// # Errors
///
/// If there is none, or a manifest cannot be read.
pub fn find_sources(path: &Path) -> Result<Vec<PluginSource>, BuildError> {
    let path = fs::canonicalize(path).map_err(|_| BuildError::Nothing(path.to_owned()))?;
    let mut sources = BTreeSet::new();
    for manifest in find_manifests(&path) {
        if sources.iter().any(|source: &PluginSource| source.manifest == manifest) {
            continue;
        }
        let packages = read_metadata(&manifest)?.packages;
        // A workspace names all its members; only those under the path were asked for.
        let plugins = packages.into_iter().filter(|p| p.manifest_path.starts_with(&path) && p.is_plugin());
        sources.extend(plugins.map(|p| PluginSource { name: p.name, manifest: p.manifest_path }));
    }
    if sources.is_empty() {
        return Err(BuildError::Nothing(path));
    }
    Ok(sources.into_iter().collect())
}

/// Builds the crates and puts `<name>.wasm`, and `<name>.toml` where the crate has one, into `out`.
///
/// # Errors
///
/// If one does not compile (cargo's own words go to stderr), or a result cannot be written.
pub fn build_sources(sources: &[PluginSource], out: &Path) -> Result<Vec<BuiltPlugin>, BuildError> {
    fs::create_dir_all(out).map_err(|e| BuildError::Write(out.to_owned(), e))?;
    let mut built = Vec::new();
    for source in sources {
        let component = compile_source(source)?;
        let file = out.join(format!("{}.wasm", source.name));
        // The policy first: a plugin must not be served a moment without it, or by what an older one grants.
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

/// Copies beside and renames, so that a host that serves the folder never sees half a file; leaves a file alone that
/// is the same already.
fn place_file(from: &Path, to: &Path) -> io::Result<PlacedFile> {
    let bytes = fs::read(from)?;
    let size = bytes.len() as u64;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(PlacedFile { bytes: size, is_new: false });
    }
    let folder = to.parent().unwrap_or(Path::new("."));
    // A temporary file is its owner's alone; a plugin may be read by whoever serves it.
    let readable = fs::Permissions::from_mode(0o644);
    let mut file = tempfile::Builder::new().prefix(".loggia-").permissions(readable).tempfile_in(folder)?;
    file.write_all(&bytes)?;
    file.persist(to)?;
    Ok(PlacedFile { bytes: size, is_new: true })
}

fn compile_source(source: &PluginSource) -> Result<PathBuf, BuildError> {
    let mut child = cargo()
        // An rlib, made along with a cdylib, would keep the linker from optimising across crates.
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

/// A cargo of its own: what an outer cargo told this process is not meant for it.
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

/// Every `Cargo.toml` under a path, but not in what cargo or an editor made.
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

/// The messages of cargo that name results.
#[derive(Deserialize)]
struct Message {
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}
