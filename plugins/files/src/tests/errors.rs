//! Failing calls and their error messages.

use super::*;

#[test]
fn an_unknown_action_lists_the_available_ones() {
    let failure = World::new(&[]).failure("frobnicate", json!({}));
    assert_eq!(
        failure,
        "invalid_params: Unknown action: \"frobnicate\". \
         Available actions: list, get, put, edit, mkdir, search, stat, move, delete, roundtrip_start, \
         roundtrip_preview, roundtrip_commit, roundtrip_finish, describe."
    );
}

#[test]
fn each_action_reports_missing_and_invalid_parameters() {
    let world = World::new(&[]);
    let cases = [
        ("list", json!({"path": 1})),
        ("list", json!({"depth": 0})),
        ("list", json!({"limit": 1001})),
        ("get", json!({})),
        ("get", json!({"path": "/notes/a", "limit": 1})),
        ("get", json!({"path": "/notes/a", "encoding": "hex"})),
        ("put", json!({"path": "/notes/a"})),
        ("put", json!({"content": "x"})),
        ("put", json!({"path": "/notes/a", "content": ["x"]})),
        ("get", json!({"paths": []})),
        ("edit", json!({"path": "/notes/a"})),
        ("edit", json!({"path": "/notes/a", "edits": []})),
        ("edit", json!({"path": "/notes/a", "edits": [{"old": "a"}]})),
        ("edit", json!({"path": "/notes/a", "edits": [{"old": "a", "new": "b", "text": "c"}]})),
        ("mkdir", json!({})),
        ("search", json!({})),
        ("search", json!({"pattern": ""})),
        ("search", json!({"pattern": "x", "context": 6})),
        ("stat", json!({})),
        ("move", json!({"from": "/notes/a"})),
        ("move", json!({"from": "/notes/a", "to": ""})),
        ("delete", json!({})),
        ("delete", json!({"path": "/notes/a", "recursive": "perhaps"})),
        ("delete", json!({"path": "/notes/a", "force": true})),
    ];
    let lines: Vec<_> = cases
        .into_iter()
        .map(|(action, params)| format!("{action}: {}", world.failure(action, params)))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn missing_paths_and_wrong_kinds_are_reported() {
    let world = World::new(&[("notes/a.md", "a"), ("notes/d/b.md", "b")]);
    let cases = [
        ("list", json!({"path": "/notes/nothing"})),
        ("list", json!({"path": "/notes/a.md"})),
        ("get", json!({"path": "/notes/nothing"})),
        ("get", json!({"path": "/notes/d"})),
        ("get", json!({"path": "/notes/a.md/b"})),
        ("get", json!({"path": "/notes/a.md", "offset": 2})),
        ("put", json!({"path": "/notes/d", "content": ""})),
        ("put", json!({"path": "/notes", "content": ""})),
        ("put", json!({"path": "/notes/new", "content": "", "expect": "0"})),
        ("put", json!({"path": "/notes/new", "content": "?", "encoding": "base64"})),
        ("search", json!({"pattern": "x", "path": "/notes/nothing"})),
        ("search", json!({"pattern": "("})),
        ("search", json!({"pattern": "x", "cursor": "?"})),
        ("stat", json!({"path": "/notes/nothing"})),
        ("move", json!({"from": "/notes/nothing", "to": "/notes/x"})),
        ("move", json!({"from": "/notes", "to": "/docs/x"})),
        ("delete", json!({"path": "/notes/nothing"})),
        ("delete", json!({"path": "/notes", "recursive": true})),
    ];
    let lines: Vec<_> = cases
        .into_iter()
        .map(|(action, params)| format!("{action} {params}\n    {}", world.failure(action, params.clone())))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn no_path_escapes() {
    let world = World::new(&[("outside/secret.md", "secret"), ("notes/a.md", "a")]);
    let paths = [
        "/outside/secret.md",
        "/notes/../outside/secret.md",
        "/etc/passwd",
        "../secret.md",
        "/notes/a.md/..",
    ];
    for path in paths {
        let calls = [
            ("list", json!({"path": path})),
            ("get", json!({"path": path})),
            ("put", json!({"path": path, "content": "x"})),
            ("search", json!({"path": path, "pattern": "secret"})),
            ("stat", json!({"path": path})),
            ("edit", json!({"path": path, "edits": [{"old": "s", "new": "x"}]})),
            ("mkdir", json!({"path": path})),
            ("move", json!({"from": path, "to": "/notes/x"})),
            ("move", json!({"from": "/notes/a.md", "to": path})),
            ("delete", json!({"path": path})),
        ];
        for (action, params) in calls {
            let failure = world.reply(action, params.clone()).unwrap_err();
            assert_eq!(failure.code, "denied", "{action} {params}: {failure}");
            assert!(failure.hint.is_some(), "{action} {params}");
        }
    }
    assert_eq!(world.read("outside/secret.md"), "secret");
}

#[cfg(unix)]
#[test]
fn no_link_escapes() {
    use std::os::unix::fs::symlink;

    let world = World::new(&[("outside/secret.md", "secret"), ("notes/a.md", "a")]);
    symlink(world.real("outside/secret.md"), world.real("notes/file")).unwrap();
    symlink(world.real("outside"), world.real("notes/directory")).unwrap();
    symlink(world.real("notes/a.md"), world.real("notes/inside")).unwrap();
    let calls = [
        ("get", json!({"path": "/notes/file"})),
        ("get", json!({"path": "/notes/directory/secret.md"})),
        ("list", json!({"path": "/notes/directory"})),
        ("put", json!({"path": "/notes/directory/new.md", "content": "x"})),
        ("search", json!({"path": "/notes/directory", "pattern": "secret"})),
        ("edit", json!({"path": "/notes/directory/secret.md", "edits": [{"old": "s", "new": "x"}]})),
        ("mkdir", json!({"path": "/notes/directory/new"})),
        ("stat", json!({"path": "/notes/directory/secret.md"})),
        ("move", json!({"from": "/notes/a.md", "to": "/notes/directory/a.md"})),
        ("delete", json!({"path": "/notes/directory/secret.md"})),
    ];
    for (action, params) in calls {
        let failure = world.reply(action, params.clone()).unwrap_err();
        assert_eq!(failure.code, "denied", "{action} {params}: {failure}");
    }
    assert_eq!(
        world.reply("put", json!({"path": "/notes/file", "content": "x"})).unwrap_err().code,
        "conflict"
    );
    assert_eq!(world.read("outside/secret.md"), "secret");
    assert_eq!(world.data("get", json!({"path": "/notes/inside"}))["text"], "a");
    assert_eq!(world.data("search", json!({"pattern": "secret"})), json!([]), "links are not searched");
    assert_eq!(world.data("stat", json!({"path": "/notes/directory"}))["kind"], "link");
}
