//! Checks the rules of ARCHITECTURE.md by parsing the sources: which module may import what, and how things are named.
//!
//! | file | concept |
//! |---|---|
//! | `source.rs` | the modules of a crate, as its `mod` declarations give them |
//! | `imports.rs` | every path that a module names, wherever it stands |
//! | `graph.rs` | from paths to the modules that define what they name; cycles |
//! | `names.rs` | the public types and what is counted of their names |
//!
//! Tests are left out: modules and items behind `#[cfg(test)]`.

pub mod graph;
pub mod imports;
pub mod names;
pub mod source;

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace")
}

/// The folders of the host's crates: `host`, and each below it that has a manifest.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn host_crates() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("host")).expect("a readable folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let folders = names.map(|name| format!("host/{name}")).chain(["host".to_owned()]);
    let mut crates: Vec<_> =
        folders.filter(|folder| root().join(folder).join("Cargo.toml").is_file()).collect();
    crates.sort();
    crates
}

/// Every Rust file below these folders, with its path from the root and its text.
///
/// # Panics
///
/// If a file cannot be read, or there is none.
pub fn files(folders: &[&str]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut left: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a readable folder");
            left.extend(entries.map(|entry| entry.expect("a readable entry").path()));
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(root()).expect("below the root").display().to_string();
            files.push((name, std::fs::read_to_string(&path).expect("text")));
        }
    }
    assert!(!files.is_empty(), "no Rust files in {folders:?}");
    files.sort();
    files
}
