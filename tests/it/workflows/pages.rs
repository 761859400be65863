//! The examples match the page of seed 003 to the letter, except for its lost indentation.

use std::fs;

use sha2::{Digest, Sha256};

use super::stage::{example, text};

/// Each example with the lines that it has from the page, and these lines' digest without the white space around them.
/// Files with more lines than these are snippets that were completed.
const PAGE: &[(&str, usize, &str)] = &[
    ("configuration_location", 15, "6a940e44aab99de9"),
    ("research_topic", 37, "6d457825fab70ad1"),
    ("investigate_incident", 35, "9fe8a61e4185f0df"),
    ("deploy_with_approval", 38, "f85513b4b19365d1"),
    ("security_scan_report", 37, "917f074fa7106ae1"),
    ("parameters", 10, "23b250c4b0ef7359"),
    ("steps", 9, "e9922beb61aab13e"),
    ("elicitation", 9, "3acf142cd2e520d2"),
    ("retry", 3, "5d87328dc869e497"),
    ("optional_security_check", 37, "9c4115098b465440"),
    ("multi_source_data", 23, "99768ae65effaf39"),
    ("validation_error", 12, "e87333bb1eb6195d"),
    ("research_vmcp", 44, "c46bba49f119ea88"),
    ("refs", 6, "92d7bc2acd0283a8"),
];

/// Files that hold more than the page's lines.
const COMPLETED: [&str; 6] =
    ["configuration_location", "parameters", "steps", "elicitation", "retry", "validation_error"];

/// Our own files: the targets of `refs`, and the page's table of templates as a workflow.
const OWN: [&str; 3] = ["another", "reusable", "template_syntax"];

fn digest(lines: &[&str]) -> String {
    let digest = Sha256::digest(lines.join("\n").as_bytes());
    digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_examples_are_the_pages_to_the_letter() {
    for (name, many, expected) in PAGE {
        let text = text(name);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let whole = lines.len() == *many;
        assert_eq!(whole, !COMPLETED.contains(name), "{name} has {} lines", lines.len());
        let found = lines.windows(*many).any(|window| digest(window) == *expected);
        assert!(found, "{name} does not hold the page's lines any more; all its lines: {}", digest(&lines));
    }
}

#[test]
fn all_examples_come_from_the_page() {
    let folder = example("refs");
    let files = fs::read_dir(folder.parent().expect("the folder")).expect("read");
    let names = files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".workflow.yaml")?.into())).collect();
    names.sort();
    let mut known: Vec<&str> = PAGE.iter().map(|(name, ..)| *name).chain(OWN).collect();
    known.sort_unstable();
    assert_eq!(names, known);
}
