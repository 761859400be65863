//! Sources of log lines that the documentation names: a module of the host, or a target in its code.

use std::{fs, path::PathBuf};

use loggia_rules::{files, graph::SourceGraph, root};

/// Every Markdown file of `docs/`, and the README.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut left = vec![root().join("docs")];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages
}

/// Paths of a line that begin with a crate of the host, where it is about logs.
fn sources(line: &str) -> Vec<&str> {
    if !line.contains("LOGGIA_LOG") && !line.contains("\"target\"") {
        return Vec::new();
    }
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':');
    words.filter(|word| word.starts_with("loggia") && word.contains("::")).collect()
}

#[test]
fn documented_log_sources_exist() {
    let graph = SourceGraph::of_host();
    let code: String = files(&["host"]).into_iter().map(|(_, text)| text).collect();
    let exists = |source: &str| {
        let mut path = source.split("::").map(str::to_owned);
        let name = path.next().expect("a crate");
        let path: Vec<String> = path.collect();
        let is_module = graph.crates().any(|krate| krate.name == name && krate.modules.contains_key(&path));
        is_module || code.contains(&format!("\"{source}\""))
    };
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("text");
        for source in text.lines().flat_map(sources) {
            assert!(exists(source), "{}: nothing logs as `{source}`", page.display());
            seen += 1;
        }
    }
    assert!(seen > 2, "{seen}");
    assert!(!exists("loggia::nowhere"));
}
