//! `list` and `stat`.

use super::*;

fn paths(data: &Value) -> Vec<&str> {
    data.as_array()
        .unwrap()
        .iter()
        .map(|item| item.as_str().unwrap_or_else(|| item["path"].as_str().unwrap()))
        .collect()
}

fn tree() -> World {
    World::new(&[
        ("notes/b.md", "bee"),
        ("notes/a-z.md", ""),
        ("notes/a/one.md", "1"),
        ("notes/a/two.txt", "22"),
        ("notes/a/deep/three.md", "333"),
        ("notes/.hidden/x.md", "x"),
        ("docs/d.md", "d"),
    ])
}

#[test]
fn a_directory_is_listed_in_path_order() {
    let world = tree();
    let check = |params: Value, expected: &[&str]| {
        assert_eq!(paths(&world.detailed(Detail::Minimal, "list", params.clone())), expected, "{params}");
    };
    check(json!({}), &["/docs/", "/notes/"]);
    check(json!({"path": "/notes"}), &["/notes/a/", "/notes/a-z.md", "/notes/b.md"]);
    check(
        json!({"path": "/notes/", "depth": 2}),
        &[
            "/notes/a/",
            "/notes/a/deep/",
            "/notes/a/one.md",
            "/notes/a/two.txt",
            "/notes/a-z.md",
            "/notes/b.md",
        ],
    );
    check(json!({"path": "/notes", "depth": 3, "glob": "*.txt"}), &["/notes/a/two.txt"]);
    check(
        json!({"path": "/notes", "depth": 3, "glob": "a/**/*.md"}),
        &["/notes/a/deep/three.md", "/notes/a/one.md"],
    );
    check(json!({"path": "/", "depth": 2, "glob": "*.md"}), &["/docs/d.md", "/notes/a-z.md", "/notes/b.md"]);
    check(json!({"path": "/notes", "depth": 2, "hidden": true, "glob": "x.md"}), &["/notes/.hidden/x.md"]);
    check(json!({"path": "/notes", "glob": "nothing"}), &[]);
}

#[test]
fn output_follows_the_requested_detail() {
    let world = tree();
    let check = |detail, expected: &[&str]| {
        let data = world.detailed(detail, "list", json!({"path": "/notes", "glob": "b.md"}));
        let keys: Vec<_> = data[0].as_object().into_iter().flat_map(|entry| entry.keys()).collect();
        assert_eq!(keys, expected, "{detail:?}");
    };
    check(Detail::Minimal, &[]);
    check(Detail::Standard, &["path", "kind", "size"]);
    check(Detail::Full, &["path", "kind", "size", "modified"]);
    let data = world.data("list", json!({"path": "/notes"}));
    assert_eq!(data[0], json!({"path": "/notes/a", "kind": "directory"}));
    assert_eq!(data[2], json!({"path": "/notes/b.md", "kind": "file", "size": 3}));
}

/// All pages of a list, and each page's total.
fn pages(world: &World, mut params: Value) -> (Vec<String>, Vec<Option<u64>>) {
    let (mut seen, mut totals) = (Vec::new(), Vec::new());
    loop {
        let reply = world.reply("list", params.clone()).unwrap();
        let page = reply.page.unwrap();
        assert!(page.count.unwrap() <= params["limit"].as_u64().unwrap());
        seen.extend(paths(&reply.data).iter().map(ToString::to_string));
        totals.push(page.total);
        match page.cursor {
            Some(cursor) if totals.len() < 100 => params["cursor"] = json!(cursor),
            _ => return (seen, totals),
        }
    }
}

#[test]
fn pages_of_a_list_hold_each_entry_once() {
    let world = tree();
    let (seen, totals) = pages(&world, json!({"path": "/notes", "depth": 9, "limit": 2}));
    assert_eq!(seen, paths(&world.data("list", json!({"path": "/notes", "depth": 9}))));
    assert_eq!(totals, [Some(7); 4]);
}

#[test]
fn without_grants_the_list_has_a_hint() {
    let reply = testing::call(&Files::over([]), "list", json!({})).unwrap();
    assert_eq!(reply.data, json!([]));
    assert!(reply.message.unwrap().contains("[grants] dirs"));
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_is_reported() {
    use std::os::unix::ffi::OsStrExt;

    let world = World::new(&[("notes/a.md", "a"), ("notes/z.md", "z")]);
    let name = std::ffi::OsStr::from_bytes(b"bad\xff.md");
    fs::write(world.real("notes").join(name), "x").unwrap();
    let data = world.data("list", json!({"path": "/notes"}));
    assert_eq!(data.as_array().unwrap().len(), 3, "{data}");
    let failed: Vec<_> = data.as_array().unwrap().iter().filter(|entry| !entry["error"].is_null()).collect();
    assert_eq!(failed.len(), 1, "{data}");
    assert_eq!(failed[0]["error"], "its name is not UTF-8, so it cannot be opened");
    let (seen, _) = pages(&world, json!({"path": "/notes", "limit": 1}));
    assert_eq!(seen, paths(&data));
    let found = world.reply("search", json!({"pattern": "x", "path": "/notes"})).unwrap();
    assert_eq!(found.message.unwrap(), "Files skipped: 1 not readable.");
    fs::create_dir(world.real("notes/d")).unwrap();
    fs::write(world.real("notes/d").join(name), "x").unwrap();
    assert_eq!(
        world.failure("delete", json!({"path": "/notes/d", "recursive": true})),
        "invalid_data: cannot delete /notes/d: a name in it is not UTF-8"
    );
}

#[test]
fn stat_describes_a_path() {
    let world = tree();
    let entry = world.data("stat", json!({"path": "/notes/b.md"}));
    assert_eq!(
        (&entry["kind"], &entry["size"], &entry["mime"]),
        (&json!("file"), &json!(3), &json!("text/markdown"))
    );
    assert!(entry["modified"].as_str().unwrap().ends_with('Z'));
    let entry = world.detailed(Detail::Full, "stat", json!({"path": "/notes/b.md"}));
    assert_eq!(entry["version"], world.data("get", json!({"path": "/notes/b.md"}))["version"]);
    let entry = world.detailed(Detail::Minimal, "stat", json!({"path": "/notes/a"}));
    assert_eq!(entry, json!({"path": "/notes/a", "kind": "directory"}));
    assert_eq!(world.data("stat", json!({"path": "/"}))["kind"], "directory");
}

#[test]
fn a_tree_shows_sizes_and_counts() {
    let world = World::new(&[
        ("notes/a.md", "milk"),
        ("notes/d/b.md", &"x".repeat(1200)),
        ("notes/d/e/c.md", "c"),
        ("notes/d/e/f/g.txt", "g"),
        ("notes/.hidden/h.md", "h"),
        ("notes/line\nbreak", ""),
    ]);
    fs::create_dir(world.real("notes/empty")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(world.real("outside"), world.real("notes/z")).unwrap();
    let tree = |mut params: Value| {
        params["by"] = json!("tree");
        let reply = world.reply("list", params.clone()).unwrap();
        let Value::Object(mut data) = reply.data else { panic!("{params}") };
        let tree = data.remove("tree").unwrap();
        format!("{params}\n{}\n{}{}", json!(data), tree.as_str().unwrap(), reply.message.unwrap_or_default())
    };
    let trees = [
        json!({"path": "/notes"}),
        json!({"path": "/notes", "depth": 3}),
        json!({"path": "/notes", "depth": 9, "hidden": true, "glob": "*.md"}),
        json!({"path": "/notes", "depth": 9, "limit": 9}),
        json!({"path": "/notes", "depth": 9, "limit": 3}),
        json!({"depth": 2}),
        json!({"path": "/docs"}),
    ];
    insta::assert_snapshot!(trees.map(tree).join("\n\n"));
    let failure = world.failure("list", json!({"path": "/notes", "by": "tree", "cursor": "/notes/a.md"}));
    assert_eq!(failure, "invalid_params: `cursor` excludes `by`: only a list by path has parts");
}

#[test]
fn large_trees_fit_the_hosts_limit() {
    let world = World::new(&[]);
    let name = "\u{1}".repeat(200);
    for number in 0..700 {
        world.write(&format!("notes/{name}{number}"), b"");
    }
    let reply = world.reply("list", json!({"path": "/notes", "by": "tree", "limit": 1000})).unwrap();
    assert_eq!(reply.data["files"], 700);
    assert!(reply.data.to_string().len() < 900_000);
    assert!(reply.message.unwrap().ends_with("more: raise `limit`, or narrow `path` or `glob`."));
}

#[test]
fn the_largest_files_come_first() {
    let world = World::new(&[
        ("notes/a.md", "aa"),
        ("notes/d/b.md", "bbbb"),
        ("docs/c.md", "cc"),
        ("docs/d.md", "d"),
    ]);
    let list = |params: Value| {
        let reply = world.reply("list", params).unwrap();
        let found = |entry: &Value| format!("{} {}", entry["path"].as_str().unwrap(), entry["size"]);
        let found: Vec<_> = reply.data.as_array().unwrap().iter().map(found).collect();
        (found.join(", "), reply.page.unwrap().total)
    };
    let all = "/notes/d/b.md 4, /docs/c.md 2, /notes/a.md 2, /docs/d.md 1";
    assert_eq!(list(json!({"by": "size", "depth": 9})), (all.into(), Some(4)));
    assert_eq!(list(json!({"by": "size", "depth": 9, "limit": 1})), ("/notes/d/b.md 4".into(), Some(4)));
    assert_eq!(list(json!({"by": "size", "path": "/notes"})), ("/notes/a.md 2".into(), Some(1)));
    assert_eq!(world.data("list", json!({"by": "size"})), json!([]), "there are only directories");
}

#[test]
fn patterns_exclude_names_and_what_is_below() {
    let world = World::new(&[
        ("notes/a.rs", ""),
        ("notes/b.md", ""),
        ("notes/target/c.rs", ""),
        ("notes/src/d.rs", ""),
        ("notes/src/gen/e.rs", ""),
        ("notes/we !rd/f.md", ""),
    ]);
    let check = |glob: &str, expected: &[&str]| {
        let params = json!({"path": "/notes", "depth": 9, "glob": glob});
        let data = world.detailed(Detail::Minimal, "list", params);
        assert_eq!(data, json!(expected), "{glob}");
    };
    check("*.rs !target", &["/notes/a.rs", "/notes/src/d.rs", "/notes/src/gen/e.rs"]);
    check("*.rs !target !src/gen", &["/notes/a.rs", "/notes/src/d.rs"]);
    check("**/*.rs !{target,src}", &["/notes/a.rs"]);
    check("!target !src !we*", &["/notes/a.rs", "/notes/b.md"]);
    check(" !*.rs !target !gen !we*", &["/notes/b.md", "/notes/src/"]);
    check("*.md", &["/notes/b.md", "/notes/we !rd/f.md"]);
}
