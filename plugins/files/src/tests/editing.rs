//! `edit` and `mkdir`.

use super::*;

const POEM: &str = "one\ntwo\nthree\nfour\nfive\n";

impl World {
    /// Edits `/notes/a.md` as it is.
    fn edit(&self, edits: Value) -> Result<Reply<Value>> {
        let version = crate::version::of(self.read("notes/a.md").as_bytes());
        self.reply("edit", json!({"path": "/notes/a.md", "edits": edits, "expect": version}))
    }
}

#[test]
fn edits_are_applied_in_order() {
    let check = |before: &str, edits: Value, after: &str| {
        let world = World::new(&[("notes/a.md", before)]);
        let edited = world.edit(edits.clone()).unwrap_or_else(|failure| panic!("{edits}: {failure:?}"));
        assert_eq!(world.read("notes/a.md"), after, "{edits}");
        assert_eq!(edited.data["size"], after.len(), "{edits}");
        assert_eq!(edited.data["version"], crate::version::of(after.as_bytes()), "{edits}");
    };
    check(POEM, json!([{"old": "two", "new": "2"}]), "one\n2\nthree\nfour\nfive\n");
    check(POEM, json!([{"old": "two\nthree\n", "new": ""}]), "one\nfour\nfive\n");
    check(POEM, json!([{"old": "two", "new": "x"}, {"old": "x", "new": "y"}]), "one\ny\nthree\nfour\nfive\n");
    check(POEM, json!([{"old": "o", "new": "0", "all": true}]), "0ne\ntw0\nthree\nf0ur\nfive\n");
    check(POEM, json!([{"lines": "2-3", "new": "x"}]), "one\nx\nfour\nfive\n");
    check(POEM, json!([{"lines": "2-3", "new": "x\n"}]), "one\nx\nfour\nfive\n");
    check(POEM, json!([{"lines": "2", "new": "x\n\n"}]), "one\nx\n\nthree\nfour\nfive\n");
    check(POEM, json!([{"lines": "2-3", "new": ""}]), "one\nfour\nfive\n");
    check(POEM, json!([{"lines": "-2", "new": "end"}]), "one\ntwo\nthree\nend\n");
    check(POEM, json!([{"lines": "3-2", "new": "x"}]), "one\ntwo\nx\nthree\nfour\nfive\n");
    check(POEM, json!([{"lines": "1-0", "new": "x"}]), "x\none\ntwo\nthree\nfour\nfive\n");
    check(POEM, json!([{"lines": "6-", "new": "six"}]), "one\ntwo\nthree\nfour\nfive\nsix\n");
    // Line numbers are those before the call.
    check(
        POEM,
        json!([{"lines": "1", "new": "a\nb\nc"}, {"lines": "3", "new": "x"}]),
        "a\nb\nc\ntwo\nx\nfour\nfive\n",
    );
    check(POEM, json!([{"lines": "5", "new": ""}, {"lines": "1", "new": ""}]), "two\nthree\nfour\n");
    check(
        POEM,
        json!([{"lines": "3-2", "new": "x"}, {"lines": "3-2", "new": "y"}, {"lines": "3", "new": "z"}]),
        "one\ntwo\nx\ny\nz\nfour\nfive\n",
    );
    // `lines` narrows where `old` is looked for, and follows what was changed there.
    check("a\na\na\n", json!([{"old": "a", "lines": "2", "new": "b"}]), "a\nb\na\n");
    check("a\na\na\n", json!([{"old": "a\n", "lines": "2-3", "new": "", "all": true}]), "a\n");
    check(
        "a\na\na\n",
        json!([{"old": "a", "lines": "2", "new": "bbb"}, {"old": "bbb", "lines": "1-2", "new": "c"}]),
        "a\nc\na\n",
    );
}

#[test]
fn line_endings_and_the_end_stay() {
    let check = |before: &str, edits: Value, after: &str| {
        let world = World::new(&[("notes/a.md", before)]);
        world.edit(edits.clone()).unwrap_or_else(|failure| panic!("{edits}: {failure:?}"));
        assert_eq!(world.read("notes/a.md"), after, "{before:?} {edits}");
    };
    check("a\r\nb\r\nc\r\n", json!([{"old": "a\nb", "new": "x\ny\nz"}]), "x\r\ny\r\nz\r\nc\r\n");
    check("a\r\nb\r\nc\r\n", json!([{"old": "a\r\nb", "new": "x\r\ny"}]), "x\r\ny\r\nc\r\n");
    check("a\r\nb\r\nc\r\n", json!([{"lines": "2", "new": "x\ny\n"}]), "a\r\nx\r\ny\r\nc\r\n");
    check("a\r\nb", json!([{"lines": "2", "new": "x\n"}]), "a\r\nx");
    check("a\nb\n", json!([{"old": "a\r\nb", "new": "x\r\ny"}]), "x\ny\n");
    check("a", json!([{"lines": "1", "new": "x\ny"}]), "x\ny");
    check("a\nb", json!([{"lines": "2", "new": "x\n"}]), "a\nx");
    check("a\nb", json!([{"lines": "1", "new": "x"}]), "x\nb");
    check("a\nb", json!([{"lines": "3-", "new": "c"}]), "a\nb\nc");
    check("a\nb", json!([{"lines": "2", "new": ""}]), "a");
    check("a\nb", json!([{"old": "b", "new": "b\n"}]), "a\nb\n");
    check("a\nb\n", json!([{"lines": "2", "new": "x"}]), "a\nx\n");
    // Mixed endings are taken as they are.
    check("a\nb\r\nc\n", json!([{"lines": "2", "new": "x"}]), "a\nx\r\nc\n");
    check("a\nb\r\nc\n", json!([{"lines": "3", "new": "x"}]), "a\nb\r\nx\n");
    check("a\nb\r\nc\n", json!([{"old": "b\r\n", "new": "x\r\n"}]), "a\nx\r\nc\n");
    check("\u{feff}a\nb\n", json!([{"lines": "1", "new": "x"}]), "\u{feff}x\nb\n");
    check("", json!([{"lines": "1-", "new": "x"}]), "x");
    check("", json!([{"lines": "1-0", "new": "x\ny\n"}]), "x\ny\n");
}

#[test]
fn a_failing_edit_leaves_the_file() {
    let text = "fn main() {\n    let a = 1;\n    print(a);\n}\n\nfn other() {\n    let a = 1;\n}\n";
    let world = World::new(&[("notes/a.md", text), ("notes/empty.md", "")]);
    let cases = [
        json!([{"old": "let a = 1;", "new": "x"}]),
        json!([{"old": "fn main() {", "new": "x"}, {"old": "fn main() {", "new": "y"}]),
        json!([{"old": "fn main() {\n  let a = 1;\n", "new": "x"}]),
        json!([{"old": "fn mian() {", "new": "x"}]),
        json!([{"old": "print(a);", "lines": "5-8", "new": "x"}]),
        json!([{"old": "zebra", "new": "x"}]),
        json!([{"new": "x"}]),
        json!([{"lines": "2", "new": "x", "all": true}]),
        json!([{"lines": "7-9", "new": "x"}]),
        json!([{"lines": "20-", "new": "x"}]),
        json!([{"lines": "x", "new": "x"}]),
        json!([{"lines": "1-3", "new": "x"}, {"lines": "3", "new": "y"}]),
        json!([{"old": "let a", "lines": "2", "new": "x"}, {"lines": "1-3", "new": "y"}]),
    ];
    let lines = cases.map(|edits| {
        let failure = world.edit(edits.clone()).unwrap_err();
        let hint = failure.hint.clone().unwrap_or_default();
        let details = failure.details.as_ref().map_or(String::new(), |details| format!("\n    {details}"));
        assert_eq!(world.read("notes/a.md"), text);
        format!("{edits}\n    {failure}\n    {hint}{details}")
    });
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(world.names(), ["notes/a.md", "notes/empty.md"], "no drafts are left");
}

#[test]
fn an_edit_of_another_version_is_refused() {
    let world = World::new(&[("notes/a.md", POEM)]);
    let edit = |expect: &str| {
        let edits = json!([{"old": "two", "new": "2"}]);
        world.reply("edit", json!({"path": "/notes/a.md", "edits": edits, "expect": expect}))
    };
    let stale = edit("0000").unwrap_err();
    let version = crate::version::of(POEM.as_bytes());
    let message = format!("conflict: modified concurrently: /notes/a.md has version {version}");
    assert_eq!(stale.to_string(), message);
    assert_eq!(stale.next, Some(Next::of("files", "get").param("path", "/notes/a.md")));
    assert_eq!(world.read("notes/a.md"), POEM);
    // The version of some lines is that of the file.
    let seen = world.data("get", json!({"path": "/notes/a.md", "lines": "2"}));
    assert_eq!((&seen["text"], &seen["version"]), (&json!("two\n"), &json!(version)));
    let edited = edit(&version).unwrap();
    assert_eq!(world.read("notes/a.md"), "one\n2\nthree\nfour\nfive\n");
    assert_eq!(edited.data["version"], world.data("get", json!({"path": "/notes/a.md"}))["version"]);
}

#[test]
fn lines_are_not_replaced_unseen() {
    let world = World::new(&[("notes/a.md", POEM)]);
    let edit = |edits: Value| world.reply("edit", json!({"path": "/notes/a.md", "edits": edits}));
    let failure = edit(json!([{"old": "two", "new": "2"}, {"lines": "3", "new": "3"}])).unwrap_err();
    let expected = "conflict: edit 2 of /notes/a.md: it replaces lines, so `expect` is required";
    assert_eq!(failure.to_string(), expected);
    assert_eq!(failure.next, Some(Next::of("files", "get").param("path", "/notes/a.md")));
    assert_eq!(world.read("notes/a.md"), POEM);
    // These lose nothing.
    edit(json!([{"lines": "3-2", "new": "x"}, {"lines": "6-", "new": "y"}, {"old": "e", "lines": "1", "new": "E"}]))
        .unwrap();
    assert_eq!(world.read("notes/a.md"), "onE\ntwo\nx\nthree\nfour\nfive\ny\n");
}

#[test]
fn a_dry_run_shows_the_difference() {
    let world = World::new(&[("notes/a.md", POEM)]);
    let edits = json!([{"old": "two", "new": "2"}, {"lines": "6-", "new": "six"}]);
    let shown = world.reply("edit", json!({"path": "/notes/a.md", "edits": edits, "dry_run": true})).unwrap();
    assert_eq!(world.read("notes/a.md"), POEM);
    assert_eq!(shown.message.as_deref(), Some("Nothing was written: `dry_run`."));
    insta::assert_snapshot!(format!("{:#}", shown.data));
    let same = world.edit(json!([{"old": "two", "new": "two"}])).unwrap();
    assert_eq!(same.message.as_deref(), Some("The file has this content already."));
}

#[test]
fn only_text_files_can_be_edited() {
    let world = World::new(&[("notes/d/a.md", "a")]);
    world.write("notes/latin.txt", &[b'a', 0xe9]);
    world.write("notes/nul.bin", b"a\0");
    world.write("notes/large.txt", &vec![b'a'; (4 << 20) + 1]);
    let check = |path: &str, expected: &str| {
        let failure = world.failure("edit", json!({"path": path, "edits": [{"old": "a", "new": "b"}]}));
        assert_eq!(failure, expected);
    };
    check("/notes/latin.txt", "conflict: it is not UTF-8 text: /notes/latin.txt");
    check("/notes/nul.bin", "conflict: it is not UTF-8 text: /notes/nul.bin");
    check("/notes/large.txt", "invalid_params: too large to edit: /notes/large.txt has 4194305 bytes");
    check("/notes/d", "invalid_params: it is a directory: /notes/d");
    check("/notes/missing", "not_found: not found: /notes/missing");
    check("/outside/a", "denied: access denied: /outside/a is not in a granted directory");
}

#[test]
fn an_edit_may_not_grow_a_file_too_far() {
    let world = World::new(&[("notes/a.md", &"a\n".repeat(10_000))]);
    let edits = json!([{"old": "a", "new": "b".repeat(500), "all": true}]);
    let failure = world.edit(edits).unwrap_err().to_string();
    assert_eq!(failure, "invalid_params: too large to edit: /notes/a.md would have 5010000 bytes");
    assert_eq!(world.read("notes/a.md").len(), 20_000);
}

#[cfg(unix)]
#[test]
fn a_link_is_not_edited() {
    let world = World::new(&[("outside/kept.md", "kept"), ("notes/a.md", "a")]);
    std::os::unix::fs::symlink(world.real("outside/kept.md"), world.real("notes/link")).unwrap();
    let params = json!({"path": "/notes/link", "edits": [{"old": "kept", "new": "lost"}]});
    assert_eq!(world.failure("edit", params), "conflict: it is neither a file nor a directory: /notes/link");
    assert_eq!(world.read("outside/kept.md"), "kept");
}

#[test]
fn directories_are_made_with_their_parents() {
    let world = World::new(&[("notes/a.md", "a")]);
    let made = |path: &str| world.data("mkdir", json!({"path": path}));
    assert_eq!(made("/notes/x/y/z"), json!({"path": "/notes/x/y/z", "created": true}));
    assert!(world.real("notes/x/y/z").is_dir());
    assert_eq!(made("/notes/x/y"), json!({"path": "/notes/x/y", "created": false}));
    assert_eq!(made("/notes")["created"], false);
    let failure = |path: &str| world.failure("mkdir", json!({"path": path}));
    assert_eq!(failure("/notes/a.md"), "conflict: it is not a directory: /notes/a.md");
    assert_eq!(failure("/notes/a.md/b"), "invalid_params: not a directory: /notes/a.md/b");
    assert_eq!(failure("/outside/b"), "denied: access denied: /outside/b is not in a granted directory");
}
