//! Attacks by hostile plugins, clients and folders: none harms the host.
//!
//! The cases are H01 to H127 of our list of attacks. A test's comment names the cases that it covers, here or next to
//! the code in question; `each_case_has_a_test_or_a_reason` checks that every case is covered.

mod arguments;
mod audit;
mod charged;
mod closed;
mod compile;
mod connections;
mod consent;
mod cpu;
mod disk;
mod drain;
mod ends;
mod fairness;
mod fence;
mod files;
mod folder;
mod forms;
mod host;
mod kept;
mod killed;
mod masks;
mod memory;
mod newcomers;
mod nodes;
mod nulls;
mod output;
mod owners;
mod patterns;
mod pins;
mod proposals;
mod refused;
mod requests;
mod roots;
mod screen;
mod server;
mod stage;
mod stdio;
mod surface;
mod trail;
pub mod wat;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Number of cases.
const CASES: u8 = 127;

/// Cases without a test, and why.
const LEFT_OUT: &[(u8, &str)] = &[];

/// The cases that a line of comment names: `/// H01, H02.`
fn named(line: &str) -> Vec<u8> {
    let Some(text) = line.trim().strip_prefix("/// H") else { return Vec::new() };
    let cases = text.split_once(['.', ':']).map_or(text, |(cases, _)| cases);
    cases.split(", H").map_while(|case| case.parse().ok()).collect()
}

/// Every case that a test names, with the files that do.
fn tested() -> BTreeMap<u8, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut left: Vec<PathBuf> = ["host", "tests/it"].map(|folder| root.join(folder)).into();
    let mut tested: BTreeMap<u8, BTreeSet<String>> = BTreeMap::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).expect("read").map(|entry| entry.expect("read").path()));
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("hostile/mod.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            let cases = named(line);
            // The comment must precede a test: more comment lines, attributes, then the name.
            let mut follows = lines[at..].iter().skip_while(|line| line.starts_with("///"));
            let is_test = follows.next().is_some_and(|line| line.starts_with("#[") && line.contains("test"));
            for case in cases {
                assert!(is_test, "{}:{}: H{case:02} names no test", path.display(), at + 1);
                tested.entry(case).or_default().insert(path.display().to_string());
            }
        }
    }
    tested
}

#[test]
fn each_case_has_a_test_or_a_reason() {
    let (tested, left_out) = (tested(), BTreeMap::from_iter(LEFT_OUT.iter().copied()));
    for case in 1..=CASES {
        match (tested.get(&case), left_out.get(&case)) {
            (Some(_), None) | (None, Some(_)) => {}
            (Some(files), Some(_)) => panic!("H{case:02} is left out, and tested in {files:?}"),
            (None, None) => panic!("H{case:02} has no test"),
        }
    }
    assert_eq!(tested.keys().find(|case| !(1..=CASES).contains(*case)), None);
}

/// The cases of each row of SECURITY.md's table of promises.
fn promises() -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("SECURITY.md");
    let text = fs::read_to_string(path).expect("SECURITY.md");
    let section = text.split("## What Loggia promises").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let rows = section.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---")).skip(1);
    let cells = rows.map(|row| row.trim_matches('|').rsplit_once('|').expect("two cells"));
    cells
        .map(|(promise, cases)| (promise.trim().to_owned(), named(&format!("/// {}", cases.trim()))))
        .collect()
}

#[test]
fn each_promise_names_cases_that_have_tests() {
    let (tested, promises) = (tested(), promises());
    assert!(promises.len() > 10, "{promises:?}");
    for (promise, cases) in promises {
        assert!(!cases.is_empty(), "no case proves: {promise}");
        for case in cases {
            assert!(tested.contains_key(&case), "H{case:02} has no test, but is to prove: {promise}");
        }
    }
}

/// `tests/release/scoreboard` writes the page from a run of the tests.
#[test]
fn the_scoreboard_has_every_case() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let page = fs::read_to_string(path.join("docs/operators/security-tests.md")).expect("the page");
    for case in 1..=CASES {
        assert!(page.contains(&format!("\n| H{case:02} |")), "H{case:02}: run tests/release/scoreboard");
    }
    assert!(!page.contains("**fails**"), "run tests/release/scoreboard");
}
