//! `put`, `move` and `delete`.

use super::*;

/// All names below the directory, hidden ones too.
fn names(world: &World) -> Vec<String> {
    let params = json!({"depth": 9, "hidden": true});
    let data = world.detailed(Detail::Minimal, "list", params);
    data.as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect()
}

#[test]
fn writing_a_file_leaves_no_temporary_files() {
    let world = World::new(&[]);
    let written = world.data("put", json!({"path": "/notes/a.md", "content": "milk"}));
    let version = crate::version::of(b"milk");
    assert_eq!(written, json!({"path": "/notes/a.md", "size": 4, "version": version, "replaced": false}));
    assert_eq!(world.read("notes/a.md"), "milk");
    world.data("put", json!({"path": "/notes/raw", "content": "AJ8=", "encoding": "base64"}));
    assert_eq!(fs::read(world.real("notes/raw")).unwrap(), [0, 159]);
    assert_eq!(names(&world), ["/docs/", "/notes/", "/notes/a.md", "/notes/raw"]);
}

#[test]
fn replacing_a_file_requires_its_current_hash() {
    let world = World::new(&[("notes/a.md", "old")]);
    let put = |expect: Option<&str>| {
        let mut params = json!({"path": "/notes/a.md", "content": "new"});
        if let Some(expect) = expect {
            params["expect"] = json!(expect);
        }
        world.reply("put", params)
    };
    let unseen = put(None).unwrap_err();
    assert_eq!(unseen.to_string(), "conflict: already exists: /notes/a.md");
    assert_eq!(unseen.next, Some(Next::of("files", "get").param("path", "/notes/a.md")));
    assert!(
        !format!("{unseen:?}").contains(&crate::version::of(b"old")),
        "the version is for who reads the file"
    );
    let stale = put(Some("0000")).unwrap_err();
    assert_eq!(stale.code, "conflict");
    assert!(stale.message.starts_with("modified concurrently: /notes/a.md"));
    assert_eq!(world.read("notes/a.md"), "old");

    let seen = put(Some(&crate::version::of(b"old"))).unwrap();
    assert_eq!(seen.data["replaced"], true);
    assert_eq!(world.read("notes/a.md"), "new");
    assert_eq!(names(&world), ["/docs/", "/notes/", "/notes/a.md"]);
}

#[test]
fn missing_directories_are_created_on_request() {
    let world = World::new(&[("notes/a.md", "a")]);
    let params = json!({"path": "/notes/x/y/b.md", "content": ""});
    assert_eq!(world.failure("put", params), "not_found: not found: the directory /notes/x/y");
    world.data("put", json!({"path": "/notes/x/y/b.md", "content": "", "parents": true}));
    assert_eq!(world.read("notes/x/y/b.md"), "");
    let params = json!({"from": "/notes/a.md", "to": "/docs/p/q.md"});
    assert_eq!(world.failure("move", params), "not_found: not found: the directory /docs/p");
    world.data("move", json!({"from": "/notes/a.md", "to": "/docs/p/q.md", "parents": true}));
    assert_eq!(world.read("docs/p/q.md"), "a");
}

#[test]
fn moves_replace_nothing_unseen() {
    let world = World::new(&[("notes/a.md", "a"), ("notes/b.md", "b"), ("notes/d/c.md", "c")]);
    let moved = world.data("move", json!({"from": "/notes/d", "to": "/docs/d"}));
    assert_eq!(moved, json!({"from": "/notes/d", "to": "/docs/d", "replaced": false}));
    assert_eq!(world.read("docs/d/c.md"), "c");

    let params = json!({"from": "/notes/a.md", "to": "/notes/b.md"});
    assert_eq!(world.failure("move", params), "conflict: already exists: /notes/b.md");
    let params = json!({"from": "/notes/a.md", "to": "/docs/d"});
    assert_eq!(world.failure("move", params), "conflict: it is a directory: /docs/d");
    let params = json!({"from": "/docs/d", "to": "/docs/d/e"});
    assert_eq!(world.failure("move", params), "invalid_params: /docs/d/e is /docs/d itself or inside it");
    assert_eq!((world.read("notes/a.md"), world.read("notes/b.md")), ("a".into(), "b".into()));

    let version = crate::version::of(b"b");
    let moved = world.data("move", json!({"from": "/notes/a.md", "to": "/notes/b.md", "expect": version}));
    assert_eq!(moved["replaced"], true);
    assert_eq!(world.read("notes/b.md"), "a");
    assert_eq!(names(&world), ["/docs/", "/docs/d/", "/docs/d/c.md", "/notes/", "/notes/b.md"]);
}

#[test]
fn deleting_a_full_directory_requires_a_flag() {
    let world = World::new(&[("notes/a.md", "a"), ("notes/d/b.md", "b"), ("notes/d/e/c.md", "c")]);
    let params = json!({"path": "/notes/d"});
    assert_eq!(world.failure("delete", params), "conflict: the directory is not empty: /notes/d");
    assert_eq!(world.read("notes/d/b.md"), "b");
    let deleted = world.data("delete", json!({"path": "/notes/d", "recursive": true}));
    assert_eq!(deleted, json!({"path": "/notes/d", "count": 4}));
    assert_eq!(world.data("delete", json!({"path": "/notes/a.md"}))["count"], 1);
    fs::create_dir(world.real("notes/empty")).unwrap();
    assert_eq!(world.data("delete", json!({"path": "/notes/empty"}))["count"], 1);
    assert_eq!(names(&world), ["/docs/", "/notes/"]);
}

#[test]
fn a_tree_that_is_too_deep_is_refused() {
    let world = World::new(&[]);
    fs::create_dir_all(world.real(&format!("notes/d{}", "/d".repeat(200)))).unwrap();
    let failure = world.reply("delete", json!({"path": "/notes/d", "recursive": true})).unwrap_err();
    assert!(failure.message.starts_with("deeper than 128 directories: /notes/d/d"), "{failure}");
    assert!(world.real("notes/d").exists());
}

#[cfg(unix)]
#[test]
fn deleting_a_link_keeps_its_target() {
    let world = World::new(&[("outside/kept.md", "kept"), ("notes/d/a.md", "a")]);
    std::os::unix::fs::symlink(world.real("outside"), world.real("notes/d/link")).unwrap();
    assert_eq!(world.data("delete", json!({"path": "/notes/d", "recursive": true}))["count"], 3);
    assert_eq!(world.read("outside/kept.md"), "kept");
}
