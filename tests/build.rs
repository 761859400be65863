//! Builds the guests that the tests run: the fixtures, and the real plugins.
//!
//! Cargo builds them natively too, as members of the workspace; this is their build for `wasm32-wasip2`, by a cargo
//! with a target folder of its own, so that it does not wait for the lock that the outer cargo holds.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let tests = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = tests.parent().expect("the workspace").to_owned();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // …/target/<profile>/build/<package>/out; one folder for all profiles, since guests have their own.
    let target = out.ancestors().nth(4).expect("a target folder").join("guests");
    for source in ["tests/fixtures", "plugins", "sdk", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    build(&root, &target, &["build", "--package", "loggia-fixtures", "--examples", "--features", "guest"]);
    let plugins = plugins(&root.join("plugins"));
    let packages = plugins.iter().flat_map(|name| ["--package", name]);
    build(&root, &target, &["build"].into_iter().chain(packages).collect::<Vec<_>>());
    let built = target.join("wasm32-wasip2/guest");
    println!("cargo::rustc-env=LOGGIA_GUESTS={}", built.display());
}

/// The crates that become components, by the names of their folders; the others are what these share.
fn plugins(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the plugins").map(|entry| entry.expect("an entry").path());
    let is_plugin = |path: &PathBuf| {
        fs::read_to_string(path.join("Cargo.toml")).is_ok_and(|manifest| manifest.contains("\"cdylib\""))
    };
    let name = |path: PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries.filter(is_plugin).map(name).collect()
}

fn build(root: &Path, target: &Path, what: &[&str]) {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (key, _) in env::vars_os() {
        let name = key.to_string_lossy();
        let outer = name.starts_with("CARGO_") && !matches!(&*name, "CARGO_HOME" | "CARGO_NET_OFFLINE");
        if outer || name.starts_with("RUSTC") || name == "RUSTFLAGS" {
            cargo.env_remove(key);
        }
    }
    let status = cargo
        .current_dir(root)
        .args(what)
        .args(["--quiet", "--profile", "guest", "--target", "wasm32-wasip2"])
        .arg("--target-dir")
        .arg(target)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => panic!(
            "the guests do not build (see above); if the target is missing: rustup target add wasm32-wasip2"
        ),
        Err(error) => panic!("cargo cannot be run: {error}"),
    }
}
