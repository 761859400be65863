//! Build errors.

use std::{io, path::PathBuf};

/// Target of plugins.
pub const TARGET: &str = "wasm32-wasip2";

/// Build errors.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no plugin.
    #[error(
        "no plugin under {0}: a plugin is a crate with crate-type = [\"cdylib\"] under [lib] that depends on loggia-sdk, a Python \
         or JavaScript project that depends on loggia-sdk, or a folder with a plugin.toml; `loggia new NAME` makes one"
    )]
    Nothing(PathBuf),
    /// Two sources would be built to one file.
    #[error("two plugins are named `{name}`: {} and {}; rename one of them", .one.display(), .other.display())]
    SameName {
        /// Their name.
        name: String,
        /// Folder of the first.
        one: PathBuf,
        /// Folder of the second.
        other: PathBuf,
    },
    /// The target is missing and cannot be installed.
    #[error("the target {TARGET} is not installed: run `rustup target add {TARGET}`")]
    Target,
    /// cargo or rustc cannot be run.
    #[error("failed to run `{0}` (is Rust installed? See https://rustup.rs)")]
    Tool(&'static str, #[source] io::Error),
    /// cargo rejects a manifest.
    #[error("cargo cannot read {0}:\n{1}")]
    Manifest(PathBuf, String),
    /// `plugin.toml` has problems.
    #[error(
        "{0} cannot be used:\n{1}\n(it says how the plugin is built; the policy of a plugin is the file NAME.toml)"
    )]
    PluginManifest(PathBuf, String),
    /// The manifest of a Python or JavaScript project has problems.
    #[error("{0} cannot be used: {1}")]
    Project(PathBuf, String),
    /// A manifest cannot be read.
    #[error("failed to read {0}")]
    Unreadable(PathBuf, #[source] io::Error),
    /// Plugins do not build; their tools printed the errors.
    #[error("{} not build (see above)", names_do(.0))]
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
