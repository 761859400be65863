//! Requirements of the five seeds, point by point, each with its test.
//!
//! The seeds are the texts that Loggia started from: 000 on composite tools, 001 on lessons from a server in use, 002
//! on tools that name the next one, 003 on workflows, 004 on domain facades. `points.rs` lists their points; a test
//! renders it as `README.md` (`LOGGIA_WRITE=1`).

mod chaining;
mod composite;
mod details;
mod envelopes;
mod failures;
mod following;
mod lessons;
mod points;
mod results;
mod runs;
mod savings;
mod stage;
mod told;

use std::{collections::BTreeSet, fmt::Write, fs, path::PathBuf};

use points::POINTS;

/// Something that a seed asks for.
pub struct Point {
    /// Number of the seed.
    pub seed: &'static str,
    /// Requirement.
    pub point: &'static str,
    /// Test of the point: `module::name` of this folder; with the prefix `it::` for its neighbours, `schema::` for unit
    /// tests of `loggia-schema`. Empty if the point is deferred.
    pub test: &'static str,
    /// Deliberate deviation, or deferral.
    pub deviation: Option<&'static str>,
}

/// Prefix of a deviation that is only a deferral.
const LATER: &str = "Later: ";

fn path(relative: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// The names of a file's tests.
fn tests(file: &str) -> Vec<String> {
    let text = fs::read_to_string(path(file)).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let marked = lines.windows(2).filter(|pair| matches!(pair[0], "#[test]" | "#[tokio::test]"));
    let name = |line: &str| Some(line.split_once("fn ")?.1.split_once('(')?.0.to_owned());
    marked.filter_map(|pair| name(pair[1])).collect()
}

#[test]
fn every_point_has_a_test_or_is_deferred() {
    for Point { seed, point, test, deviation } in POINTS {
        if test.is_empty() {
            assert!(deviation.is_some_and(|said| said.starts_with(LATER)), "{seed}: {point}");
            continue;
        }
        let (file, name) = test.rsplit_once("::").unwrap_or_default();
        let file = match (file.strip_prefix("it::"), file.strip_prefix("schema::")) {
            (Some(file), _) => format!("it/{}.rs", file.replace("::", "/")),
            (_, Some(file)) => format!("../host/schema/src/{file}.rs"),
            _ => format!("it/seeds/{file}.rs"),
        };
        assert!(tests(&file).iter().any(|test| test == name), "{seed}: {point}: there is no test {test}");
    }
}

#[test]
fn every_test_of_this_folder_shows_a_point() {
    let named: BTreeSet<&str> = POINTS.iter().map(|point| point.test).collect();
    let mut seen = 0;
    for file in fs::read_dir(path("it/seeds")).expect("this folder").map(|file| file.expect("a file").path())
    {
        let module = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if module == "mod" || file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        for test in tests(&format!("it/seeds/{module}.rs")) {
            let test = format!("{module}::{test}");
            assert!(named.contains(test.as_str()), "{test} shows no point");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn the_seeds_are_all_there_and_in_order() {
    assert!(POINTS.iter().map(|point| point.seed).is_sorted());
    let seeds: BTreeSet<&str> = POINTS.iter().map(|point| point.seed).collect();
    assert_eq!(seeds.into_iter().collect::<Vec<_>>(), ["000", "001", "002", "003", "004"]);
    let points: BTreeSet<(&str, &str)> = POINTS.iter().map(|point| (point.seed, point.point)).collect();
    assert_eq!(points.len(), POINTS.len(), "a point stands twice");
}

#[test]
fn the_table_to_be_read_is_the_table() {
    let mut table = "# Requirements of the seeds\n\nA test generates this file from `points.rs`: `LOGGIA_WRITE=1 cargo test -p loggia-tests \
        --test it seeds`.\n\n| seed | point | test | deviation |\n|---|---|---|---|\n"
        .to_owned();
    for Point { seed, point, test, deviation } in POINTS {
        let test = if test.is_empty() { String::new() } else { format!("`{test}`") };
        let row =
            [seed, point, test.as_str(), deviation.unwrap_or_default()].map(|cell| cell.replace('|', "\\|"));
        writeln!(table, "| {} |", row.join(" | ")).expect("written to a string");
    }
    let readme = path("it/seeds/README.md");
    if std::env::var_os("LOGGIA_WRITE").is_some() {
        fs::write(&readme, &table).expect("written");
    }
    let read = fs::read_to_string(&readme).unwrap_or_default();
    assert!(read == table, "README.md is outdated; run with LOGGIA_WRITE=1; expected\n\n{table}");
}
