//! Guest paths of a client's roots: each by a name of its own.

use std::collections::BTreeSet;

use loggia_facade::ClientRoot;

/// Maximum number of characters of a name.
const LENGTH: usize = 64;
/// Name of a root that has none that can be shown.
const NAMELESS: &str = "root";

/// Guest paths that are in use.
pub(super) struct RootNames(BTreeSet<String>);

impl RootNames {
    pub(super) fn new(taken: &[String]) -> Self {
        Self(taken.iter().cloned().collect())
    }

    /// Chooses a path below `at` for a root: by its name, or else by the last part of its path.
    pub(super) fn take(&mut self, at: &str, root: &ClientRoot) -> String {
        let last = || safe(&root.path.file_name()?.to_string_lossy());
        let name = safe(&root.short_name()).or_else(last);
        let first = format!("{at}/{}", name.as_deref().unwrap_or(NAMELESS));
        let mut chosen = first.clone();
        let mut number = 2_usize;
        while !self.0.insert(chosen.clone()) {
            chosen = format!("{first}-{number}");
            number += 1;
        }
        chosen
    }
}

/// Makes a name part of a path that a model can read and write: letters, digits and a few signs.
fn safe(name: &str) -> Option<String> {
    let plain = |c: char| if c.is_alphanumeric() || " -_.,+@()".contains(c) { c } else { '-' };
    let name: String = name.trim().chars().take(LENGTH).map(plain).collect();
    let name = name.trim();
    name.contains(char::is_alphanumeric).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_root_gets_a_name_of_its_own() {
        let mut names = RootNames::new(&["/notes".to_owned(), "/deep/notes".to_owned()]);
        let long = "é".repeat(200);
        for (at, name, path, expected) in [
            ("", Some("Work"), "/home/ada/work", "/Work"),
            ("", None, "/home/ada/work", "/work"),
            ("", None, "/srv/work", "/work-2"),
            ("", None, "/opt/work", "/work-3"),
            ("", Some("work-2"), "/x", "/work-2-2"),
            ("", Some("notes"), "/x", "/notes-2"),
            ("/deep", None, "/x/notes", "/deep/notes-2"),
            ("/more", None, "/x/notes", "/more/notes"),
            ("", Some("../../etc"), "/x", "/etc"),
            ("", Some(".."), "/x/real", "/real"),
            ("", Some(" \u{202e}\u{1b} "), "/x/fallback", "/fallback"),
            ("", Some("a/\u{202e}b\u{1b}c\n"), "/x", "/-b-c"),
            ("", Some("My project (2)"), "/x", "/My project (2)"),
            ("", Some(""), "/", "/root"),
            ("", Some("日本"), "/x", "/日本"),
            ("", None, "/x/.config", "/.config"),
            ("", Some(&long), "/x", &format!("/{}", &long[..128])),
        ] {
            let root = ClientRoot { path: path.into(), name: name.map(str::to_owned) };
            assert_eq!(names.take(at, &root), expected, "{at} {name:?} {path}");
        }
    }
}
