//! The actions of a round trip.

use super::*;

fn start(world: &World, paths: &[&str]) -> String {
    let started = world.data("roundtrip_start", json!({"paths": paths}));
    started["manifest_id"].as_str().unwrap().to_owned()
}

fn commit(world: &World, id: &str, changes: Value) -> Result<Reply<Value>> {
    world.reply("roundtrip_commit", json!({"manifest_id": id, "changes": changes}))
}

/// Renders a result without times.
fn shown(mut data: Value) -> String {
    if data["expires"].is_string() {
        data["expires"] = json!("…");
    }
    serde_json_pretty(&data)
}

fn serde_json_pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[test]
fn a_start_returns_hashes_contents_and_missing_paths() {
    let world = World::new(&[("notes/a.md", "# A\nmilk\n")]);
    world.write("docs/b.bin", &[0, 159, 146, 150]);
    let params = json!({"paths": ["/notes/new.md", "/notes/a.md", "docs//b.bin", "/notes/./a.md"]});
    insta::assert_snapshot!("start", shown(world.data("roundtrip_start", params.clone())));
    insta::assert_snapshot!(
        "start_minimal",
        shown(world.detailed(Detail::Minimal, "roundtrip_start", params))
    );
}

#[test]
fn a_preview_shows_the_changes() {
    let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let world = World::new(&[("notes/a.md", &text), ("notes/b.md", "b\n"), ("notes/c.md", "c\n")]);
    world.write("docs/b.bin", &[0, 159]);
    let paths = ["/notes/a.md", "/notes/b.md", "/notes/c.md", "/docs/b.bin", "/notes/d/new.md"];
    let id = start(&world, &paths);
    let before = world.names();
    world.write("notes/c.md", b"theirs\n");
    let changes = json!([
        {"path": "/notes/a.md", "content": text.replace("line 20\n", "line twenty\n").replace("line 40\n", "")},
        {"path": "/notes/b.md", "content": "b\n"},
        {"path": "/notes/c.md", "content": "ours"},
        {"path": "/docs/b.bin", "content": "AJ8A", "encoding": "base64"},
        {"path": "/notes/d/new.md", "content": "new\n"},
    ]);
    let params = json!({"manifest_id": id, "changes": changes});
    let reply = world.reply("roundtrip_preview", params.clone()).unwrap();
    insta::assert_snapshot!(
        "preview",
        format!("{}\n{:?}\n{:?}", shown(reply.data), reply.message, reply.next)
    );
    insta::assert_snapshot!(
        "preview_minimal",
        shown(world.detailed(Detail::Minimal, "roundtrip_preview", params))
    );
    assert_eq!(world.names(), before, "a preview writes nothing");
}

#[test]
fn a_long_diff_is_truncated_by_default() {
    let text = |word: &str| (0..2000).map(|line| format!("{word} {line}\n")).collect::<String>();
    let world = World::new(&[("notes/a.md", &text("old"))]);
    let id = start(&world, &["/notes/a.md"]);
    let changes = json!([{"path": "/notes/a.md", "content": text("new")}]);
    let params = json!({"manifest_id": id, "changes": changes});
    let diff = |detail| {
        let data = world.detailed(detail, "roundtrip_preview", params.clone());
        data["changes"][0]["diff"].as_str().unwrap().to_owned()
    };
    let (standard, full) = (diff(Detail::Standard), diff(Detail::Full));
    assert!(standard.len() < 9000 && standard.ends_with(" more lines\n"), "{}", standard.len());
    assert_eq!(full.lines().count(), 2 + 1 + 4000);
}

#[test]
fn a_commit_writes_all_and_keeps_the_manifest() {
    let world = World::new(&[("notes/a.md", "a"), ("notes/b.md", "b")]);
    let id = start(&world, &["/notes/a.md", "/notes/b.md", "/docs/x/y/c.md"]);
    let changes = json!([
        {"path": "/notes/a.md", "content": "a 2"},
        {"path": "/docs/x/y/c.md", "content": "AJ8=", "encoding": "base64"},
        {"path": "/notes/later.md", "content": "later"},
    ]);
    let done = commit(&world, &id, changes.clone()).unwrap();
    insta::assert_snapshot!("commit", shown(done.data.clone()));
    assert_eq!(world.names(), ["docs/x/y/c.md", "notes/a.md", "notes/b.md", "notes/later.md"]);
    assert_eq!(world.read("notes/a.md"), "a 2");
    assert_eq!(fs::read(world.real("docs/x/y/c.md")).unwrap(), [0, 159]);

    // The answer was lost, and the caller asks again.
    let again = commit(&world, &id, changes).unwrap();
    let fates: Vec<_> = again.data["files"].as_array().unwrap().iter().map(|file| &file["done"]).collect();
    assert_eq!(fates, ["unchanged"; 3]);

    // The manifest continues, also with files that it created.
    let changes =
        json!([{"path": "/notes/later.md", "content": "l"}, {"path": "/notes/b.md", "content": "b 2"}]);
    commit(&world, &id, changes).unwrap();
    assert_eq!((world.read("notes/later.md"), world.read("notes/b.md")), ("l".into(), "b 2".into()));
    let kept: Vec<_> = world.store.keys().into_iter().filter(|key| key.starts_with("journal")).collect();
    assert_eq!(kept, ["journals"], "nothing is left of the journals but their number");
}

#[test]
fn retrying_a_commit_after_a_lost_reply_succeeds() {
    let world = World::new(&[("notes/a.md", "a"), ("notes/b.md", "b")]);
    let id = start(&world, &["/notes/a.md", "/notes/b.md"]);
    // As if another had made the same change: the manifest does not know it.
    world.write("notes/a.md", b"a 2");
    let changes =
        json!([{"path": "/notes/a.md", "content": "a 2"}, {"path": "/notes/b.md", "content": "b 2"}]);
    let done = commit(&world, &id, changes).unwrap();
    assert_eq!(done.data["files"][0]["done"], "unchanged");
    assert_eq!(world.read("notes/b.md"), "b 2");
}

#[test]
fn a_commit_renews_an_expiring_manifest() {
    let minutes = |world: &World, minutes: u64| world.store.advance(Duration::from_secs(60 * minutes));
    let world = World::new(&[("notes/a.md", "a")]);
    let id = start(&world, &["/notes/a.md"]);
    minutes(&world, 59);
    commit(&world, &id, json!([{"path": "/notes/a.md", "content": "b"}])).unwrap();
    minutes(&world, 59);
    commit(&world, &id, json!([{"path": "/notes/a.md", "content": "b"}])).unwrap();
    minutes(&world, 61);
    let failure = commit(&world, &id, json!([{"path": "/notes/a.md", "content": "c"}])).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "not_found: not found: the manifest `rt_0001` has expired or never existed"
    );
    let next = Next::of("files", "roundtrip_start").param("paths", ["/notes/a.md"]);
    assert_eq!(failure.next, Some(next));
    assert_eq!(world.read("notes/a.md"), "b");

    let host = world.host().config("roundtrip_minutes", 5);
    let started = host.call(&world.files, "roundtrip_start", json!({"paths": ["/notes/a.md"]})).unwrap();
    assert_eq!(started.data["manifest_id"], "rt_0002");
    minutes(&world, 6);
    let params = json!({"manifest_id": "rt_0002", "changes": [{"path": "/notes/a.md", "content": "c"}]});
    assert_eq!(host.call(&world.files, "roundtrip_preview", params).unwrap_err().code, "not_found");
}

#[test]
fn impossible_commits_are_refused_before_writing() {
    let world = World::new(&[("notes/a.md", "a"), ("notes/d/b.md", "b")]);
    fs::File::create(world.real("notes/huge")).unwrap().set_len(2 << 20).unwrap();
    world.write("notes/large", &vec![b'"'; 600 << 10]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(world.real("notes/a.md"), world.real("notes/link")).unwrap();
    let id = start(&world, &["/notes/a.md"]);
    let before = world.names();
    let paths = |paths: &[&str]| ("roundtrip_start", json!({"paths": paths}));
    let changes = |changes: Value| ("roundtrip_commit", json!({"manifest_id": id, "changes": changes}));
    let of = |path: &str| json!({"path": path, "content": "x"});
    let cases = [
        paths(&[]),
        paths(&["/notes/d"]),
        paths(&["/notes"]),
        paths(&["/etc/passwd"]),
        paths(&["/notes/huge"]),
        paths(&["/notes/a.md", "/notes/large"]),
        paths(&["/notes/a.md/b"]),
        paths(&["/notes/link"]),
        paths(&["/notes/.loggia-rt1-0.0.old"]),
        paths(&[&format!("/notes/{}", "x".repeat(1000))]),
        changes(json!([])),
        changes(json!([{"path": "/notes/a.md"}])),
        changes(json!([{"path": "/notes/a.md", "content": "x", "mode": "x"}])),
        changes(json!([of("/notes/a.md"), of("notes//./a.md")])),
        changes(json!([of("/notes/x"), of("/notes/x-y"), of("/notes/x/y")])),
        changes(json!([of("/notes/a.md/b")])),
        changes(json!([of("/notes/d")])),
        changes(json!([of("/notes/link")])),
        changes(json!([of("/notes")])),
        changes(json!([of("/etc/passwd")])),
        changes(json!([of("/notes/../x")])),
        changes(json!([{"path": "/notes/a.md", "content": "?", "encoding": "base64"}])),
        ("roundtrip_commit", json!({"manifest_id": "rt_0009", "changes": [of("/notes/a.md")]})),
        ("roundtrip_preview", json!({"manifest_id": "rt_0009", "changes": [of("/notes/a.md")]})),
        ("roundtrip_commit", json!({"manifest_id": id, "changes": [of("/notes/a.md")], "mode": "merge"})),
    ];
    let lines: Vec<_> = cases
        .into_iter()
        .map(|(action, params)| {
            let failure = world.reply(action, params.clone()).unwrap_err();
            let mut params = params.to_string();
            params.truncate(120);
            format!("{action} {params}\n    {failure}\n    {}", failure.hint.as_deref().unwrap_or("-"))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(world.names(), before);
    assert_eq!(world.read("notes/a.md"), "a");
}

#[test]
fn the_largest_start_fits_the_hosts_limit() {
    let world = World::new(&[("notes/worst", &"\u{1}".repeat(153_000))]);
    let reply = world.reply("roundtrip_start", json!({"paths": ["/notes/worst"]})).unwrap();
    assert!(reply.data.to_string().len() > 900_000 && reply.data.to_string().len() < 1_000_000);
}

#[test]
fn without_state_only_round_trips_fail() {
    let world = World::new(&[("notes/a.md", "a")]);
    let host = Host::new();
    let call = |action, params| host.call(&world.files, action, params);
    call("put", json!({"path": "/notes/b.md", "content": "b"})).unwrap();
    call("list", json!({"path": "/notes"})).unwrap();
    call("get", json!({"path": "/notes/b.md"})).unwrap();
    call("search", json!({"pattern": "a"})).unwrap();
    let changes = json!([{"path": "/notes/a.md", "content": "x"}]);
    for (action, params) in [
        ("roundtrip_start", json!({"paths": ["/notes/a.md"]})),
        ("roundtrip_preview", json!({"manifest_id": "rt_0001", "changes": changes})),
        ("roundtrip_commit", json!({"manifest_id": "rt_0001", "changes": changes})),
        ("roundtrip_finish", json!({})),
    ] {
        let failure = call(action, params).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "denied: access denied: round trips need state, which is not granted"
        );
        assert!(failure.hint.as_ref().unwrap().contains("store = true"));
    }
}

#[test]
fn others_that_are_quicker_are_waited_for() {
    let world = World::new(&[("notes/a.md", "a")]);
    let id = start(&world, &["/notes/a.md"]);
    world.store.conflicts(2);
    commit(&world, &id, json!([{"path": "/notes/a.md", "content": "b"}])).unwrap();
    assert_eq!(world.read("notes/a.md"), "b");
    assert_eq!(world.data("roundtrip_finish", json!({}))["did"], "nothing");
}

#[test]
fn the_suggested_restart_names_only_files() {
    let world = World::new(&[("notes/a.md", "a"), ("notes/b.md", "b")]);
    let next = |paths: &[&str]| {
        let id = start(&world, paths);
        // The file that was read is a directory now.
        fs::remove_file(world.real("notes/a.md")).unwrap();
        fs::create_dir(world.real("notes/a.md")).unwrap();
        let changes = json!([{"path": "/notes/a.md", "content": "x"}]);
        let params = json!({"manifest_id": id, "changes": changes});
        let preview = world.reply("roundtrip_preview", params.clone()).unwrap().next;
        let commit = world.reply("roundtrip_commit", params).unwrap_err().next.clone();
        fs::remove_dir(world.real("notes/a.md")).unwrap();
        world.write("notes/a.md", b"a");
        (preview, commit)
    };
    assert_eq!(next(&["/notes/a.md"]), (None, None));
    let b = Some(Next::of("files", "roundtrip_start").param("paths", ["/notes/b.md"]));
    assert_eq!(next(&["/notes/a.md", "/notes/b.md"]), (b.clone(), b));
}
