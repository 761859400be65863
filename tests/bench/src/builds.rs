//! Builds the measured programs with cargo.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Paths of the measured programs.
pub struct Builds {
    /// The `loggia` command.
    pub loggia: PathBuf,
    /// The native server.
    pub native: PathBuf,
    /// The bench's plugin.
    pub guest: PathBuf,
}

/// Target of plugins.
const TARGET: &str = "wasm32-wasip2";

impl Builds {
    /// Builds `loggia` as for packages and the native server at full speed, each alone so that none is compiled with another's
    /// features; skips the given ones.
    pub fn make(loggia: Option<PathBuf>, native: Option<PathBuf>, guest: Option<PathBuf>) -> Result<Self> {
        let loggia = self::loggia(loggia)?;
        let native =
            built(native, &["--profile", "bench", "-p", "loggia-bench", "--bin", "native"], "native")?;
        let guest = plugin("loggia-bench-guest", guest).with_context(|| {
            format!("building the plugin needs the target {TARGET}: rustup target add {TARGET}")
        })?;
        Ok(Self { loggia, native, guest })
    }
}

/// Path of the `loggia` command, built unless given.
pub fn loggia(given: Option<PathBuf>) -> Result<PathBuf> {
    built(given, &["--profile", "dist", "-p", "loggia", "--bin", "loggia"], "loggia")
}

/// Path of the plugin of that package, built unless given.
pub fn plugin(package: &str, given: Option<PathBuf>) -> Result<PathBuf> {
    built(given, &["--profile", "guest", "--target", TARGET, "-p", package, "--lib"], ".wasm")
}

fn built(given: Option<PathBuf>, args: &[&str], ends: &str) -> Result<PathBuf> {
    match given {
        Some(path) => path.canonicalize().with_context(|| format!("no file {}", path.display())),
        None => build(args, ends),
    }
}

/// Builds one target; returns the file with this ending.
fn build(args: &[&str], ends: &str) -> Result<PathBuf> {
    eprintln!("building: cargo build {}", args.join(" "));
    let mut cargo = Command::new("cargo");
    // Variables of the outer cargo must not reach the inner one.
    for (key, _) in std::env::vars_os() {
        let name = key.to_string_lossy();
        let meant =
            matches!(&*name, "CARGO_HOME" | "CARGO_TARGET_DIR" | "CARGO_NET_OFFLINE" | "CARGO_BUILD_JOBS");
        if name.starts_with("CARGO") && !meant {
            cargo.env_remove(&key);
        }
    }
    let output = cargo
        .arg("build")
        .args(args)
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo")?;
    ensure!(output.status.success(), "cargo build {} failed", args.join(" "));
    last_file(&String::from_utf8_lossy(&output.stdout), ends).context("cargo built no such file")
}

/// Last file with this ending in cargo's messages: cargo builds the requested target last.
fn last_file(messages: &str, ends: &str) -> Option<PathBuf> {
    let messages = messages.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = messages.flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default());
    files
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .find(|file| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ends)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requested_file_comes_last() {
        let messages = r#"{"reason":"compiler-artifact","filenames":["/t/libdep.rlib"]}
{"reason":"compiler-artifact","filenames":["/t/loggia"]}
{"reason":"build-finished","success":true}"#;
        assert_eq!(last_file(messages, "loggia"), Some(PathBuf::from("/t/loggia")));
        assert_eq!(last_file(messages, ".wasm"), None);
    }
}
