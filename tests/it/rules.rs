//! The rules of ARCHITECTURE.md that a reader could break without noticing.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file longer than this holds more than one concept. (DESIGN: 120 to 180 lines, rarely over 400.)
const LONGEST: usize = 450;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// Every Rust file below these folders, with its path from the root and its text.
fn sources(folders: &[&str]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut left: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).expect("read").map(|entry| entry.expect("read").path()));
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(root()).expect("below").display().to_string();
            files.push((name, fs::read_to_string(&path).expect("text")));
        }
    }
    assert!(!files.is_empty());
    files
}

/// Lines that hold a word, outside comments, in files that may not.
fn offences(folders: &[&str], word: &str, allowed: &[&str]) -> Vec<String> {
    let files = sources(folders).into_iter().filter(|(name, _)| !allowed.iter().any(|a| name.starts_with(a)));
    files
        .flat_map(|(name, text)| {
            let lines = text.lines().enumerate().filter(|(_, line)| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains(word)
            });
            lines.map(|(n, line)| format!("{name}:{}: {}", n + 1, line.trim())).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn plugins_know_the_sdk_alone() {
    let plugins =
        fs::read_dir(root().join("plugins")).expect("the plugins").map(|entry| entry.expect("read"));
    let manifests = plugins.filter_map(|entry| fs::read_to_string(entry.path().join("Cargo.toml")).ok());
    let mut seen = 0;
    for manifest in manifests {
        let (_, dependencies) = manifest.split_once("[dependencies]").expect("some");
        let ours = dependencies.lines().filter(|line| line.contains("path =") || line.starts_with("loggia"));
        let others: Vec<_> = ours.filter(|line| !line.starts_with("loggia-sdk")).collect();
        assert_eq!(others, [""; 0], "{manifest}");
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn each_crate_and_module_names_only_what_it_may() {
    let none: [String; 0] = [];
    let host = &["host/src", "host/facade", "host/schema", "host/workflow"];
    // As a source of log lines it may be named.
    let logs = &["host/src/telemetry/logs.rs"];
    assert_eq!(offences(host, "wasmtime", logs), none, "only loggia-sandbox names wasmtime");
    assert_eq!(
        offences(&["host"], "rmcp::", &["host/src/mcp/", "host/src/serve/"]),
        none,
        "only mcp and serve name rmcp"
    );
    assert_eq!(
        offences(&["host"], "prometheus_client::", &["host/src/telemetry/metrics.rs"]),
        none,
        "only telemetry/metrics.rs knows who reads the figures"
    );
    assert_eq!(
        offences(&["host/sandbox/src"], "Config::new", &["host/sandbox/src/engine.rs"]),
        none,
        "only engine.rs configures wasmtime"
    );
    for word in ["std::fs", "tokio::fs", "std::process", "std::net", "tokio::net"] {
        let pure = &[
            "host/facade",
            "host/schema",
            "host/text",
            "host/workflow",
            "host/src/gate",
            "host/src/catalog.rs",
            "host/src/mcp",
        ];
        assert_eq!(offences(pure, word, &[]), none, "no files, processes or sockets here");
    }
}

#[test]
fn stdout_belongs_to_the_protocol() {
    let none: [String; 0] = [];
    for word in ["println!", "print!(", "inherit_stdout", "inherit_stdio"] {
        assert_eq!(offences(&["host"], word, &[]), none);
    }
    assert_eq!(
        offences(
            &["host"],
            "io::stdout()",
            &["host/src/cli/term.rs", "host/src/serve/stdio.rs", "host/sandbox/src/compile.rs"]
        ),
        none,
        "results are printed by cli/term.rs; the compiling child writes its code"
    );
}

#[test]
fn a_file_holds_one_concept() {
    let long: Vec<String> = sources(&["host", "sdk", "plugins", "tests"])
        .into_iter()
        .filter(|(name, _)| !name.contains("/target/") && !name.ends_with("tests.rs"))
        .filter(|(_, text)| text.lines().count() > LONGEST)
        .map(|(name, text)| format!("{name} has {} lines", text.lines().count()))
        .collect();
    assert_eq!(long, [""; 0]);
}

#[test]
fn the_sdk_ships_the_contract_as_it_is() {
    let contract = fs::read_to_string(root().join("wit/loggia.wit")).expect("the contract");
    let shipped = fs::read_dir(root().join("sdk/wit")).expect("the SDK's copy");
    let shipped: Vec<String> =
        shipped.map(|file| fs::read_to_string(file.expect("a file").path()).expect("text")).collect();
    assert_eq!(shipped, [contract]);
}
