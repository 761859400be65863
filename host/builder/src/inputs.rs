//! The files from which plugins are built. A build is due when one of them has other contents than at the last build, so that what
//! a build itself writes leads to one more build at most.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ignore::{
    DirEntry, WalkBuilder,
    gitignore::{Gitignore, GitignoreBuilder},
};
use sha2::{Digest, Sha256};

use super::{
    depfile::depfile_of,
    file_digest::{InputDigest, add_content},
    outside_inputs::OutsideInputs,
    source::{MANIFEST, PluginSource},
    steps::StepBuild,
    tool_output::{is_marked_output, is_output},
};

/// Digests of the inputs of all sources under a path.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct InputSurvey {
    /// Of the crates together, since they may share files.
    pub crates: InputDigest,
    /// Of the sources that processes build, by name.
    pub others: BTreeMap<String, InputDigest>,
    /// Files outside the path from which they were built last.
    pub outside: OutsideInputs,
}

impl InputSurvey {
    /// Reads the inputs of sources under a path, except what is in `out`, and those outside it from which they were `built`.
    pub fn read(sources: &[PluginSource], path: &Path, out: &Path, built: &OutsideInputs) -> Self {
        let steps = || sources.iter().filter_map(|source| Some((source, source.as_steps()?)));
        let apart: Vec<&Path> = steps().map(|(source, _)| &*source.folder).chain([out]).collect();
        let crates = digest_crates(sources, path, &apart);
        let others = steps().map(|(source, build)| (source.name.clone(), digest_watched(source, build, out)));
        let outside = built.read_again(sources.iter().map(|source| &*source.name));
        Self { crates, others: others.collect(), outside }
    }

    /// Whether the inputs of a source are the same as in another survey.
    pub fn has_same(&self, source: &PluginSource, other: &Self) -> bool {
        let is_same_below = match source.is_crate() {
            true => self.crates == other.crates,
            false => self.others.get(&source.name) == other.others.get(&source.name),
        };
        is_same_below && self.outside.has_same(&source.name, &other.outside)
    }
}

/// Digests the inputs of the crates under a path. Patterns select the files of their crate's folder, but not of crates in it.
fn digest_crates(sources: &[PluginSource], path: &Path, apart: &[&Path]) -> InputDigest {
    let crates = || sources.iter().filter_map(|source| Some((&*source.folder, &*source.as_crate()?.watch)));
    let is_selected =
        |folder: &Path| crates().any(|(above, watch)| !watch.is_empty() && folder.starts_with(above));
    let mut parts = BTreeMap::from([(path, [].as_slice())]);
    parts.extend(crates().filter(|(folder, _)| is_selected(folder)));
    let apart: Vec<&Path> = apart.iter().chain(parts.keys()).copied().collect();
    let mut digest = Sha256::new();
    parts.iter().for_each(|(folder, patterns)| digest.update(digest_files(folder, patterns, &apart)));
    digest.finalize().into()
}

/// Digests the files that lead to a build by processes.
pub(super) fn digest_watched(source: &PluginSource, build: &StepBuild, out: &Path) -> InputDigest {
    // A policy is copied without a build.
    let policy = source.folder.join(format!("{}.toml", source.name));
    digest_files(&source.folder, &build.watch, &[out, &build.artifact, &depfile_of(&build.artifact), &policy])
}

/// Digests the files of a folder that are neither hidden nor ignored nor written by tools. Paths of `apart` are left out.
pub fn digest_folder(folder: &Path, apart: &[&Path]) -> InputDigest {
    digest_files(folder, &[], apart)
}

/// Digests the files of a folder that match one of the patterns, and the manifest; without patterns all files that are neither hidden nor
/// ignored nor written by tools. Paths of `apart` are left out.
fn digest_files(folder: &Path, patterns: &[String], apart: &[&Path]) -> InputDigest {
    let apart: Vec<PathBuf> = apart.iter().map(|path| path.to_path_buf()).collect();
    let selected = read_patterns(folder, patterns);
    let mut walk = WalkBuilder::new(folder);
    // Patterns also select what is hidden or ignored.
    walk.standard_filters(selected.is_none());
    // Not those above: a folder in which an author keeps plugins may be ignored as a whole.
    walk.parents(false).require_git(false).git_global(false).sort_by_file_path(Path::cmp);
    walk.filter_entry(move |entry| is_input(entry, &apart));
    let mut digest = Sha256::new();
    for entry in walk.build().flatten() {
        let Ok(file) = entry.metadata() else { continue };
        let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let is_selected =
            |selected: &Gitignore| selected.matched_path_or_any_parents(name, false).is_ignore();
        if !file.is_file() || !selected.as_ref().is_none_or(is_selected) {
            continue;
        }
        digest.update(name.as_os_str().as_encoded_bytes());
        digest.update([0]);
        add_content(&mut digest, entry.path(), &file);
    }
    digest.finalize().into()
}

/// Reads patterns, and adds the manifest. `None`: there are none.
fn read_patterns(folder: &Path, patterns: &[String]) -> Option<Gitignore> {
    if patterns.is_empty() {
        return None;
    }
    let mut selected = GitignoreBuilder::new(folder);
    // An invalid pattern matches nothing; the others still do.
    for pattern in patterns.iter().map(String::as_str).chain([MANIFEST]) {
        drop(selected.add_line(None, pattern));
    }
    selected.build().ok()
}

fn is_input(entry: &DirEntry, apart: &[PathBuf]) -> bool {
    if entry.depth() == 0 {
        return true;
    }
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    let path = entry.path();
    let is_written = is_folder && (is_output(&entry.file_name().to_string_lossy()) || is_marked_output(path));
    !is_written && !apart.iter().any(|apart| path == apart)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{find::find_sources, steps::BuildStep};

    /// Writes a file below a folder.
    fn put(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn inputs_are_what_an_author_writes() {
        let root = tempfile::tempdir().unwrap();
        let put = |file: &str, text: &str| put(root.path(), file, text);
        put("src/lib.rs", "1");
        put(".gitignore", "*.log\n");
        let digest = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            digest_files(root.path(), &patterns, &[&root.path().join("out")])
        };
        let (all, rust) = (digest(&[]), digest(&["*.rs"]));
        for file in [
            "target/x",
            "node_modules/a/b.js",
            "sub/__pycache__/a.pyc",
            ".git/HEAD",
            "run.log",
            "out/plugins/a.toml",
            "cargo-out/CACHEDIR.TAG",
            "cargo-out/x",
            "environment/pyvenv.cfg",
            "environment/lib/x.py",
        ] {
            put(file, "1");
            assert_eq!(digest(&[]), all, "{file} is no input");
        }
        put("src/prompt.md", "1");
        let with_data = digest(&[]);
        assert_ne!(with_data, all);
        assert_eq!(digest(&["*.rs"]), rust, "patterns select");
        put("src/prompt.md", "1");
        assert_eq!(digest(&[]), with_data, "only contents count");
        put("src/prompt.md", "2");
        assert_ne!(digest(&[]), with_data);
        put("plugin.toml", "watch = ['*.rs']");
        assert_ne!(digest(&["*.rs"]), rust, "the manifest always counts");
    }

    #[test]
    fn each_build_has_inputs_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        for name in ["one", "two"] {
            fs::create_dir(root.join(name)).unwrap();
            fs::write(root.join(name).join("plugin.toml"), "build = 'make'").unwrap();
        }
        let sources = find_sources(&root).unwrap();
        assert_eq!(sources[0].as_steps().unwrap().steps, [BuildStep::shell("make")]);
        let read = || InputSurvey::read(&sources, &root, Path::new("/nowhere"), &OutsideInputs::default());
        let before = read();
        let changed = |file: &str| {
            fs::write(root.join(file), "x").unwrap();
            let now = read();
            (
                sources.iter().map(|source| now.has_same(source, &before)).collect::<Vec<_>>(),
                now.crates == before.crates,
            )
        };
        for file in ["one/one.wasm", "one/one.toml"] {
            assert_eq!(changed(file), (vec![true, true], true), "{file}");
        }
        assert_eq!(changed("two/a.c"), (vec![true, false], true));
        assert_eq!(changed("shared.rs"), (vec![true, false], false));
    }

    #[test]
    fn patterns_select_the_files_of_their_crate() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        for name in ["one", "one/inner", "two"] {
            let manifest = format!(
                "[workspace]\n[package]\nname = '{}'\n[lib]\ncrate-type = ['cdylib']\n[dependencies]\nwit-bindgen = '0'\n",
                name.replace('/', "-")
            );
            put(&root, &format!("{name}/Cargo.toml"), &manifest);
            put(&root, &format!("{name}/src/lib.rs"), "");
        }
        put(&root, "one/plugin.toml", "watch = ['*.sql', '/src/', 'data/**']\n");
        put(&root, "one/.gitignore", "*.sql\n/data/\n");
        let sources = find_sources(&root).unwrap();
        assert_eq!(sources.len(), 3);
        // Whether the crates' path is the root, or the crate with patterns.
        for path in [&root, &root.join("one")] {
            let sources: Vec<_> =
                sources.iter().filter(|source| source.folder.starts_with(path)).cloned().collect();
            let built = OutsideInputs::default();
            let read = || InputSurvey::read(&sources, path, Path::new("/nowhere"), &built).crates;
            let is_root = path == &root;
            for (file, counts) in [
                ("one/src/lib.rs", true),
                ("one/schema.sql", true),
                ("one/deep/schema.sql", true),
                ("one/data/words.txt", true),
                ("one/deep/data/words.txt", false),
                ("one/notes.md", false),
                ("one/plugin.toml", true),
                ("one/inner/notes.md", true),
                ("two/notes.md", is_root),
                ("shared.md", is_root),
            ] {
                let before = read();
                put(&root, file, &format!("# {}", path.display()));
                assert_eq!(read() != before, counts, "{file} in {}", path.display());
            }
        }
    }
}
