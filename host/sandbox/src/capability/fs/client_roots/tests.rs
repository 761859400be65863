//! Roots over directories of a temporary folder.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use super::*;

/// Refuses the directories of this name.
struct NameFence(&'static str);

impl RootFence for NameFence {
    fn refusals(&self, found: &[FoundRoot]) -> Vec<Option<String>> {
        let refuses = |found: &FoundRoot| found.path.ends_with(self.0).then(|| "holds secrets".to_owned());
        found.iter().map(refuses).collect()
    }
}

/// A folder with directories, and the grants of a policy.
struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
    grants: RootGrants,
}

impl Place {
    /// Grants the roots below `work` at `/`, those below `more` at `/more` for reading, and `notes` at `/notes`.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for dir in ["work/a", "work/b/deep", "work/fenced", "work2", "more/a", "notes", "elsewhere"] {
            fs::create_dir_all(path.join(dir)).unwrap();
        }
        fs::write(path.join("work/file"), "").unwrap();
        symlink("../elsewhere", path.join("work/out")).unwrap();
        symlink("b/deep", path.join("work/in")).unwrap();
        symlink("work/b", path.join("way")).unwrap();
        let grant = |dir: &str, roots, at: &str, writable| DirGrant {
            path: path.join(dir),
            roots,
            at: at.to_owned(),
            writable,
        };
        let dirs = [
            grant("work", true, "", true),
            grant("more", true, "/more", false),
            grant("notes", false, "/notes", true),
        ];
        let fence: Arc<dyn RootFence> = Arc::new(NameFence("fenced"));
        let grants = RootGrants::new("files", &dirs, &fence).unwrap();
        Self { _folder: folder, path, grants }
    }

    /// Opens these roots; returns their guest paths, and the notice.
    fn open(&self, roots: &[&str]) -> (Vec<String>, String) {
        let root = |root: &&str| ClientRoot { path: self.path.join(root), name: None };
        let roots = roots.iter().map(root).collect();
        let OpenedRoots { roots, notice } =
            self.grants.open(&ClientRoots { roots, ..ClientRoots::default() });
        (roots.into_iter().map(|root| root.at).collect(), notice.unwrap_or_default())
    }
}

#[test]
fn only_roots_below_the_grant_are_opened() {
    let place = Place::new();
    let outside = "is not below a directory that the policy allows";
    for (root, at, reason) in [
        ("work/a", "/a", ""),
        ("work/b/deep/.", "/deep", ""),
        ("more/a", "/more/a", ""),
        ("work/in", "/in", ""),
        ("way", "/way", ""),
        ("work/a/../b", "/b", ""),
        ("work", "", outside),
        ("work2", "", outside),
        ("work/out", "", outside),
        ("work/a/../../elsewhere", "", outside),
        ("notes", "", outside),
        ("", "", outside),
        ("/", "", outside),
        ("/etc", "", outside),
        ("work/file", "", "is not a directory"),
        ("work/none", "", "does not exist"),
        ("work/fenced", "", "is a directory that no plugin may have"),
    ] {
        let (opened, notice) = place.open(&[root]);
        assert_eq!(opened.join(" "), at, "{root}");
        assert!(notice.contains(reason) && notice.is_empty() == reason.is_empty(), "{root}: {notice}");
    }
}

#[test]
fn a_root_below_two_grants_appears_in_both() {
    let place = Place::new();
    let grant = |at: &str| DirGrant {
        path: place.path.join("work"),
        roots: true,
        at: at.to_owned(),
        writable: false,
    };
    for (grants, expected) in
        [([grant("/x"), grant("")], ["/x/a", "/a"]), ([grant(""), grant("/x")], ["/a", "/x/a"])]
    {
        let fence: Arc<dyn RootFence> = Arc::new(NameFence("fenced"));
        let grants = RootGrants::new("files", &grants, &fence).unwrap();
        let place = Place { grants, path: place.path.clone(), _folder: tempfile::tempdir().unwrap() };
        assert_eq!(place.open(&["work/a", "work/a/."]), (expected.map(str::to_owned).into(), String::new()));
    }
}

#[test]
fn the_notice_names_what_is_left_out() {
    let place = Place::new();
    assert_eq!(place.open(&["work/a", "work/b", "work/b/.", "more/a"]).0, ["/a", "/b", "/more/a"]);
    let (opened, notice) = place.open(&["work/none", "work/a", "work/fenced"]);
    assert_eq!(opened, ["/a"]);
    let left_out = "Left out of the client's roots: `none` does not exist; `fenced` is a directory that no \
                    plugin may have.";
    assert_eq!(notice, left_out);
    let (opened, notice) = place.open(&["elsewhere"]);
    assert!(opened.is_empty());
    let none =
        "No root of the client can be used: `elsewhere` is not below a directory that the policy allows.";
    assert_eq!(notice, none);
    let absent = place.grants.open(&ClientRoots::absent("it does not support roots"));
    assert_eq!(
        absent.notice.as_deref(),
        Some(
            "The client named no roots: it does not support roots. The operator can grant directories without `roots`."
        )
    );
    let many: Vec<String> = (0..16).map(|n| format!("{}{n}", "x".repeat(200))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(place.open(&many).1.chars().count() <= NOTICE);
}

#[test]
fn each_call_opens_what_is_there_then() {
    let place = Place::new();
    assert_eq!(place.open(&["work/a"]).0, ["/a"]);
    fs::remove_dir(place.path.join("work/a")).unwrap();
    assert!(place.open(&["work/a"]).0.is_empty());
    // Another directory leads out by now.
    symlink("../elsewhere", place.path.join("work/a")).unwrap();
    assert!(place.open(&["work/a"]).0.is_empty());
    // The bound itself may be a link.
    fs::rename(place.path.join("work"), place.path.join("moved")).unwrap();
    symlink("moved", place.path.join("work")).unwrap();
    assert_eq!(place.open(&["work/b", "moved/b/deep"]).0, ["/b", "/deep"]);
}

#[test]
fn each_refusal_is_logged_once() {
    let place = Place::new();
    for _ in 0..3 {
        place.open(&["work/fenced", "elsewhere"]);
    }
    assert_eq!(place.grants.logged.lock().unwrap().len(), 2);
    (0..2 * LOGGED).for_each(|n| place.grants.log_once(&n.to_string()));
    assert_eq!(place.grants.logged.lock().unwrap().len(), LOGGED);
}
