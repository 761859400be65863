//! Which module may import what: the invariants of ARCHITECTURE.md that are marked *(test)*.

use std::collections::{BTreeMap, BTreeSet};

use loggia_rules::{
    files,
    graph::{SourceGraph, cycles},
    root,
    source::CrateSource,
};

/// A file longer than this holds more than one concept. (CONTRIBUTING.md: 120 to 180 lines, rarely over 400.)
const LONGEST: usize = 450;

/// Reading and writing files, starting processes, opening sockets.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::process",
    "std::net::TcpStream",
    "std::net::TcpListener",
    "std::net::UdpSocket",
    "std::os::unix::net",
    "tokio::fs",
    "tokio::net",
    "tokio::process",
    "rustix::fs",
    "rustix::net",
    "rustix::process",
];

/// Places in production code that name one of these paths, in files whose names begin so.
fn offences<'a>(
    crates: impl IntoIterator<Item = &'a CrateSource>,
    within: &[&str],
    paths: &[&str],
    allowed: &[&str],
) -> Vec<String> {
    let mut found = Vec::new();
    for module in crates.into_iter().flat_map(|krate| krate.modules.values()) {
        let begins = |list: &[&str]| list.iter().any(|prefix| module.file.starts_with(prefix));
        if !begins(within) || begins(allowed) {
            continue;
        }
        for import in &module.imports {
            let written = import.path.join("::");
            let names = |path: &&&str| written == ***path || written.starts_with(&format!("{path}::"));
            if paths.iter().any(|path| names(&path)) {
                found.push(format!("{}:{}: {written}", module.file, import.line));
            }
        }
    }
    found
}

const NONE: [String; 0] = [];

#[test]
fn each_module_names_only_what_it_may() {
    let graph = SourceGraph::of_host();
    let check = |why: &str, within: &[&str], paths: &[&str], allowed: &[&str]| {
        assert_eq!(offences(graph.crates(), within, paths, allowed), NONE, "{why}");
        // A file that was moved must not leave its rule behind.
        for prefix in within.iter().chain(allowed) {
            let mut modules = graph.crates().flat_map(|krate| krate.modules.values());
            assert!(
                modules.any(|module| module.file.starts_with(prefix)),
                "{why}: no file begins with {prefix}"
            );
        }
    };
    check(
        "only loggia-sandbox names wasmtime",
        &["host/"],
        &["wasmtime", "wasmtime_wasi"],
        &["host/sandbox/"],
    );
    check(
        "only loggia-server and loggia-upstream name rmcp",
        &["host/"],
        &["rmcp"],
        &["host/server/", "host/upstream/"],
    );
    let metrics = "host/telemetry/src/metrics.rs";
    check(
        "only telemetry/metrics.rs knows who reads the meters",
        &["host/"],
        &["prometheus_client"],
        &[metrics],
    );
    let engine = "host/sandbox/src/engine";
    check(
        "only the engine configures wasmtime",
        &["host/sandbox/"],
        &["wasmtime::Config", "Config::new"],
        &[engine],
    );
    let pure = &[
        "host/api/src/adapt/",
        "host/api/src/description/",
        "host/api/src/normalise/",
        "host/api/src/request/",
        "host/api/src/response/",
        "host/api/src/source/",
        "host/clients/src/edit/",
        "host/facade/",
        "host/gate/",
        "host/policy/",
        "host/schema/",
        "host/text/",
        "host/workflow/",
        "host/server/src/mcp/",
        "host/upstream/src/adapt/",
        "host/upstream/src/import/",
        "host/upstream/src/results/",
        "host/load/src/assemble.rs",
        "host/load/src/explain/",
        "host/load/src/names/claims.rs",
        "host/load/src/offer.rs",
        "host/load/src/source/folder/decide.rs",
        "host/workbench/src/scaffold/sketch/",
    ];
    check("these use no files, processes or sockets", pure, OUTSIDE, &[]);
    let printing = &["host/src/cli/term.rs", "host/server/src/stdio/streams/", "host/sandbox/src/compile"];
    check("stdout belongs to the stdio transport", &["host/"], &["std::io::stdout", "io::stdout"], printing);
}

/// A planted violation in the style of the house is found: over several lines, renamed, and in a macro.
#[test]
fn a_planted_violation_is_found() {
    let text = "use std::{\n    collections::BTreeMap,\n    fs as files,\n};\nfn f() { format!(\"{}\", std::process::id()); }";
    let planted = CrateSource::parsed("planted", "host/gate/src/planted.rs", text);
    let found = offences([&planted], &["host/gate/"], OUTSIDE, &[]);
    assert_eq!(
        found,
        ["host/gate/src/planted.rs:3: std::fs", "host/gate/src/planted.rs:5: std::process::id"]
    );
}

#[test]
fn no_child_inherits_stdout() {
    let lines = files(&["host"]).into_iter().flat_map(|(name, text)| {
        let inherits = |line: &&str| line.contains("inherit_stdout") || line.contains("inherit_stdio");
        text.lines().filter(inherits).map(|line| format!("{name}: {}", line.trim())).collect::<Vec<_>>()
    });
    assert_eq!(lines.collect::<Vec<_>>(), NONE);
}

/// Modules of a folder import each other in one direction only, at every level; crates do by cargo.
#[test]
fn the_import_graph_has_no_cycle() {
    let graph = SourceGraph::of_host();
    let mut found = Vec::new();
    for krate in graph.crates() {
        for room in SourceGraph::rooms(krate) {
            let edges = graph.edges(krate, &room);
            for cycle in cycles(edges.keys()) {
                found.push(format!("{}::{}: {cycle:?}", krate.name, room.join("::")));
            }
        }
    }
    assert_eq!(found, NONE, "`cargo run -p loggia-rules cycle` lists the imports");
}

#[test]
fn plugins_know_the_sdk_alone() {
    let plugins =
        std::fs::read_dir(root().join("plugins")).expect("the plugins").map(|entry| entry.expect("an entry"));
    let manifests = plugins.filter_map(|entry| std::fs::read_to_string(entry.path().join("Cargo.toml")).ok());
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
fn a_file_holds_one_concept() {
    let long: Vec<String> = files(&["host", "sdk", "plugins", "tests"])
        .into_iter()
        .filter(|(name, _)| !name.contains("/target/") && !name.ends_with("tests.rs"))
        .filter(|(_, text)| text.lines().count() > LONGEST)
        .map(|(name, text)| format!("{name} has {} lines", text.lines().count()))
        .collect();
    assert_eq!(long, NONE);
}

/// One convention: a folder's own file is its `mod.rs`.
#[test]
fn a_folders_own_file_is_its_mod_rs() {
    let names: BTreeSet<String> = files(&["host"]).into_iter().map(|(name, _)| name).collect();
    let both = names.iter().filter(|name| {
        let folder = format!("{}/", name.trim_end_matches(".rs"));
        !name.ends_with("/mod.rs")
            && names.range(folder.clone()..).next().is_some_and(|n| n.starts_with(&folder))
    });
    // The tests of a file may have a folder of their own.
    let only_tests = |name: &&String| {
        let folder = format!("{}/", name.trim_end_matches(".rs"));
        names
            .range(folder.clone()..)
            .take_while(|n| n.starts_with(&folder))
            .all(|n| n[folder.len()..].starts_with("tests"))
    };
    assert_eq!(both.filter(|name| !only_tests(name)).collect::<Vec<_>>(), [""; 0]);
}

/// The counts that a reader of the code depends on; `cargo run -p loggia-rules` prints them.
#[test]
fn names_can_be_searched() {
    let graph = SourceGraph::of_host();
    let types = loggia_rules::names::types(graph.crates());
    let glossary = loggia_rules::names::GLOSSARY;
    let one_word: Vec<&str> = types
        .iter()
        .filter(|named| named.words() == 1 && !glossary.contains(&named.name.as_str()))
        .map(|named| named.name.as_str())
        .collect();
    let share = 100.0 * one_word.len() as f64 / types.len() as f64;
    let mut across: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, types) in loggia_rules::names::shared(&types) {
        let crates: BTreeSet<&str> = types.iter().map(|named| named.krate.as_str()).collect();
        if crates.len() > 1 && !loggia_rules::names::SAME_CONCEPT.contains(&name) {
            across.insert(name, crates);
        }
    }
    assert!(share < 20.0, "{share:.0} % of the public types have one word: {one_word:?}");
    assert_eq!(across, BTreeMap::new(), "these names stand for two things");
}
