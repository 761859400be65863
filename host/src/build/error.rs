//! Build errors.

use std::{io, path::PathBuf};

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
