//! `tests/release/advisories`, with a fake cargo.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use anyhow::Result;

/// Locked versions of the crates that the script checks.
const LOCK: &str = r#"version = 4
[[package]]
name = "wasmtime"
version = "48.0.8"
[[package]]
name = "wasmtime-wasi"
version = "48.0.8"
[[package]]
name = "rustls"
version = "0.23.46"
[[package]]
name = "hyper"
version = "0.14.32"
[[package]]
name = "hyper"
version = "1.12.0"
[[package]]
name = "rmcp"
version = "3.9.0"
[[package]]
name = "rusqlite"
version = "0.41.1"
"#;

const BEGIN: &str = "    Updating the index\n     Locking 1 package to latest Rust 1.95 compatible version\n";
const END: &str = "warning: not updating lockfile due to dry run\n";

/// Runs the script with a cargo of this output and exit code; returns exit code, stdout and stderr.
fn run(lock: &str, said: &str, code: i32, words: &[&str]) -> Result<(Option<i32>, String, String)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("Cargo.lock");
    fs::write(&path, lock)?;
    fs::write(folder.path().join("said"), said)?;
    let cargo = folder.path().join("cargo");
    let asks = "*hyper@0.14.32*--package?hyper@1.12.0*";
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in {asks}) ;; *) echo \"not asked: $*\" >&2; exit 99;; esac\ncat said >&2\nexit {code}\n"
    );
    fs::write(&cargo, script)?;
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755))?;
    let output = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("release/advisories"))
        .arg("--lock")
        .arg(&path)
        .args(words)
        .env("CARGO", &cargo)
        .output()?;
    assert_eq!(fs::read_to_string(&path)?, lock, "the lock file stays as it is");
    Ok((output.status.code(), String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

#[test]
fn outdated_exposed_crates_fail_the_release() -> Result<()> {
    for (line, expected) in [
        ("    Updating wasmtime v48.0.8 -> v48.0.9", Some("wasmtime 48.0.8 is locked, and 48.0.9 is out")),
        ("    Updating hyper v0.14.32 -> v0.14.33", Some("hyper 0.14.32 is locked, and 0.14.33 is out")),
        ("    Updating rustls v0.23.46 -> v0.23.47 (available: v0.24.0)", Some("0.23.47 is out")),
        // Its requirement pins one version, so cargo cannot update it.
        ("   Unchanged rmcp v3.9.0 (available: v3.9.1)", Some("rmcp 3.9.0 is locked, and 3.9.1 is out")),
        ("   Unchanged rmcp v3.9.0 (available: v4.0.0)", None),
        ("   Unchanged rusqlite v0.41.1 (available: v0.42.0)", None),
        ("   Unchanged wasmtime v48.0.8 (available: v50.0.1, requires Rust 1.97.0)", None),
        ("   Unchanged wasmtime v48.0.8 (available: v48.1.0, requires Rust 1.97.0)", None),
        ("    Updating base64 v0.22.1 -> v0.22.2", None),
        ("   Unchanged generic-array v0.14.7 (available: v0.14.9)", None),
    ] {
        let (code, stdout, stderr) = run(LOCK, &format!("{BEGIN}{line}\n{END}"), 0, &[])?;
        match expected {
            Some(said) => assert_eq!((code, stderr.contains(said)), (Some(1), true), "{line}: {stderr}"),
            None => assert_eq!(
                (code, stdout.contains("hyper 0.14.32 and 1.12.0")),
                (Some(0), true),
                "{line}: {stderr}"
            ),
        }
    }
    Ok(())
}

#[test]
fn unchecked_is_not_success() -> Result<()> {
    let offline = "error: failed to download from `https://registry.example/config.json`\n";
    let defect = "error: failed to parse manifest\n";
    for (lock, said, ended, words, code, expected) in [
        (LOCK, offline, 101, &[][..], 3, "could not check: cargo cannot reach the registry"),
        (LOCK, offline, 101, &["--allow-offline"], 0, "could not check: cargo cannot reach the registry"),
        (LOCK, defect, 101, &["--allow-offline"], 2, "failed to parse manifest"),
        (LOCK, "another language\n", 0, &[], 2, "cannot be read"),
        ("version = 4\n", END, 0, &[], 2, "has no wasmtime"),
        ("nonsense", END, 0, &[], 2, "could not check"),
    ] {
        let (got, _, stderr) = run(lock, said, ended, words)?;
        assert_eq!((got, stderr.contains(expected)), (Some(code), true), "{said}: {stderr}");
    }
    Ok(())
}
