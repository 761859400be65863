//! Cargo: its command, and the crates that it knows.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;

use super::error::BuildError;

/// Creates a cargo command without the environment of an outer cargo.
pub fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    remove_outer_cargo(&mut cargo);
    cargo
}

/// Removes the environment of an outer cargo.
pub(super) fn remove_outer_cargo(command: &mut Command) {
    for (key, _) in std::env::vars_os() {
        let name = key.to_string_lossy();
        let outer = name.starts_with("CARGO")
            && !matches!(&*name, "CARGO_HOME" | "CARGO_TARGET_DIR" | "CARGO_NET_OFFLINE");
        if outer || name == "RUSTFLAGS" {
            command.env_remove(key);
        }
    }
}

/// Reads the crates of a manifest and its workspace.
pub fn read_metadata(manifest: &Path) -> Result<CrateMetadata, BuildError> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| BuildError::Tool("cargo", e))?;
    let stderr = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    serde_json::from_slice(&output.stdout).map_err(|_| BuildError::Manifest(manifest.to_owned(), stderr()))
}

/// Crates of a workspace, or a single one.
#[derive(Deserialize)]
pub struct CrateMetadata {
    pub packages: Vec<CratePackage>,
    pub workspace_root: PathBuf,
}

/// A crate.
#[derive(Deserialize)]
pub struct CratePackage {
    pub id: String,
    pub name: String,
    pub manifest_path: PathBuf,
    targets: Vec<TargetKind>,
    dependencies: Vec<Dependency>,
    /// `[package.metadata]` of the manifest.
    #[serde(default)]
    metadata: serde_json::Value,
}

#[derive(Deserialize)]
struct TargetKind {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
}

impl CratePackage {
    /// Whether it is a cdylib that depends on the SDK, or makes its own bindings of the contract.
    pub fn is_plugin(&self) -> bool {
        const BINDINGS: [&str; 2] = ["loggia-sdk", "wit-bindgen"];
        let cdylib = self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "cdylib"));
        cdylib && self.dependencies.iter().any(|dependency| BINDINGS.contains(&dependency.name.as_str()))
    }

    /// Whether it is a guard, by `[package.metadata.loggia] kind = "guard"`.
    pub fn is_guard(&self) -> bool {
        self.metadata.pointer("/loggia/kind").is_some_and(|kind| kind == "guard")
    }

    /// Whether its library is a cdylib and nothing else: an additional rlib would prevent optimisation across crates.
    pub fn is_component_only(&self) -> bool {
        let mut libraries =
            self.targets.iter().filter(|target| target.kind.iter().any(|kind| kind == "cdylib"));
        libraries.all(|target| target.kind == ["cdylib"])
    }
}
