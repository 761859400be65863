//! Lists of what a component was built from, in the format of Make. Builders that write one put it beside the component, as
//! `notes.d` beside `notes.wasm`: cargo, the SDK for JavaScript, and compilers for C.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use super::tool_output::{is_input_path, is_marked_output};

/// Maximum size of a list. That of a crate with 1,000 files has about 60 KB.
const MAX_BYTES: u64 = 4 << 20;

/// Path of the list beside a component.
pub(super) fn depfile_of(component: &Path) -> PathBuf {
    component.with_extension("d")
}

/// Lists the files outside a folder from which a component was built, except what tools have written. Empty if its builder writes no
/// list. Relative paths are those of the folder.
pub(super) fn read_outside(component: &Path, folder: &Path) -> BTreeSet<PathBuf> {
    let list = depfile_of(component);
    let is_read = fs::metadata(&list).is_ok_and(|list| list.is_file() && list.len() <= MAX_BYTES);
    let text = Some(list).filter(|_| is_read).and_then(|list| fs::read_to_string(list).ok());
    let files = parse_depfile(text.as_deref().unwrap_or_default());
    let files = files.into_iter().map(|file| normalise(&folder.join(file)));
    files.filter(|file| !file.starts_with(folder) && is_written_by_author(file, folder)).collect()
}

/// Whether no folder of a file, below those that it shares with another folder, is hidden or written by tools.
fn is_written_by_author(file: &Path, folder: &Path) -> bool {
    let shared = file.components().zip(folder.components()).take_while(|(one, other)| one == other);
    let shared: PathBuf = shared.map(|(part, _)| part).collect();
    let is_above = |above: &&Path| **above != shared;
    let is_marked = file.ancestors().skip(1).take_while(is_above).any(is_marked_output);
    !is_marked && is_input_path(file.strip_prefix(&shared).unwrap_or(file))
}

/// Resolves `..` by the text alone: a list names files as the builder found them.
fn normalise(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Reads the prerequisites of all rules. Words are separated by blanks and lines; `\` keeps a blank, and `$$` is a dollar sign.
fn parse_depfile(text: &str) -> BTreeSet<PathBuf> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            // Elsewhere it separates folders, as in paths of Windows.
            ('\\', Some(&next @ (' ' | '#'))) => {
                word.push(next);
                chars.next();
            }
            ('\\', Some('\n' | '\r')) => {}
            ('$', Some('$')) => {
                word.push('$');
                chars.next();
            }
            (blank, _) if blank.is_ascii_whitespace() => words.push(std::mem::take(&mut word)),
            (char, _) => word.push(char),
        }
    }
    words.push(word);
    let is_prerequisite = |word: &String| !word.is_empty() && !word.ends_with(':');
    words.into_iter().filter(is_prerequisite).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prerequisites_are_read_as_make_reads_them() {
        for (text, expected) in [
            ("", &[][..]),
            ("/t/notes.wasm: /p/src/lib.rs /s/a.rs\n", &["/p/src/lib.rs", "/s/a.rs"]),
            ("out/a.wasm: a.c \\\n  ../b.h\n\n../b.h:\n", &["../b.h", "a.c"]),
            ("a: my\\ notes.md b\\#1 c$$d\n", &["b#1", "c$d", "my notes.md"]),
            ("C:\\t\\a.wasm: C:\\s\\a.rs\r\n", &["C:\\s\\a.rs"]),
            ("a:", &[]),
        ] {
            let expected = expected.iter().map(PathBuf::from).collect();
            assert_eq!(parse_depfile(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_files_of_authors_outside_the_folder_count() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let folder = root.join("plugins/notes");
        for folder in [&folder, &root.join("cache/out")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(root.join("cache/CACHEDIR.TAG"), "").unwrap();
        let component = folder.join("notes.wasm");
        assert_eq!(read_outside(&component, &folder), BTreeSet::new(), "no list");
        let list = "notes.wasm: src/lib.rs ./a.c ../../shared/text.md ../other/a.rs ../.hidden/a ../../target/gen.rs \
                    ../../node_modules/a/b.js ../../cache/out/gen.rs ../notes/b.c\n";
        fs::write(depfile_of(&component), list).unwrap();
        let expected = ["plugins/other/a.rs", "shared/text.md"].map(|file| root.join(file));
        assert_eq!(read_outside(&component, &folder), BTreeSet::from(expected));
    }
}
