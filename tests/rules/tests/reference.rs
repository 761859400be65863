//! The tables of `plugins/README.md` that compare the plugins with the reference servers: they name every tool, and tests
//! that exist.

use std::{collections::BTreeSet, fs};

use loggia_rules::{files, root};

/// Servers with the plugins that replace them, and all their tools.
const SERVERS: [(&str, &str, &[&str]); 2] = [
    (
        "server-filesystem",
        "files",
        &[
            "read_file",
            "read_text_file",
            "read_media_file",
            "read_multiple_files",
            "write_file",
            "edit_file",
            "create_directory",
            "list_directory",
            "list_directory_with_sizes",
            "directory_tree",
            "move_file",
            "search_files",
            "get_file_info",
            "list_allowed_directories",
        ],
    ),
    (
        "server-memory",
        "memories",
        &[
            "create_entities",
            "create_relations",
            "add_observations",
            "delete_entities",
            "delete_observations",
            "delete_relations",
            "read_graph",
            "search_nodes",
            "open_nodes",
        ],
    ),
];

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Names of all tests of a plugin, and of what the sandbox grants to any.
fn tests_of(plugin: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, text) in files(&[&format!("plugins/{plugin}/src"), "tests/it/capabilities"]) {
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            match line.trim_start_matches("async ").strip_prefix("fn ").and_then(|rest| rest.split_once('('))
            {
                Some((name, _)) if is_test => drop(names.insert(name.to_owned())),
                _ => {}
            }
            is_test = matches!(line, "#[test]" | "#[tokio::test]") || (is_test && line.starts_with("#["));
        }
    }
    names
}

/// The rows below a table's head: feature, ours, tests.
fn rows<'a>(readme: &'a str, server: &str, plugin: &str) -> Vec<[&'a str; 3]> {
    let head = format!("| `{server}` | `{plugin}` | test |\n|---|---|---|\n");
    let (_, table) = readme.split_once(&head).unwrap_or_else(|| panic!("no table of {server}"));
    let cells = |line: &'a str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        <[&str; 3]>::try_from(cells).unwrap_or_else(|cells| panic!("not three cells: {cells:?}"))
    };
    table.lines().take_while(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn each_feature_of_the_reference_servers_has_tests() {
    let readme = fs::read_to_string(root().join("plugins/README.md")).expect("a README");
    for (server, plugin, tools) in SERVERS {
        let (rows, tests) = (rows(&readme, server, plugin), tests_of(plugin));
        for [feature, _, shown] in &rows {
            assert!(!quoted(shown).is_empty(), "{server}, {feature}: no test");
            for test in quoted(shown) {
                assert!(tests.contains(test), "{server}, {feature}: there is no test `{test}` in {plugin}");
            }
        }
        for tool in tools {
            let is_named = rows.iter().any(|[feature, ..]| quoted(feature).first() == Some(tool));
            assert!(is_named, "{server}: no row for `{tool}`");
        }
    }
}
