//! Modes of a round trip for existing and missing files.

use super::*;

/// `path fate` of each change of an answer.
fn fates(files: &Value, key: &str) -> Vec<String> {
    let line = |file: &Value| format!("{} {}", file["path"].as_str().unwrap(), file[key].as_str().unwrap());
    files.as_array().unwrap().iter().map(line).collect()
}

/// A concurrent change.
type Act = fn(&World);

/// Creates a manifest of an existing file, a new one, and an existing one that is not to change.
fn started() -> (World, Value) {
    let world =
        World::new(&[("notes/old.md", "old\n"), ("notes/kept.md", "kept\n"), ("notes/unseen.md", "?\n")]);
    let paths = json!(["/notes/old.md", "/notes/new.md", "/notes/kept.md"]);
    let started = world.data("roundtrip_start", json!({"paths": paths}));
    (world, started["manifest_id"].clone())
}

fn changes(names: &[&str]) -> Value {
    let change = |name: &&str| json!({"path": format!("/notes/{name}.md"), "content": format!("{name} 2\n")});
    names.iter().map(change).collect()
}

#[test]
fn each_mode_handles_files_as_documented() {
    let check = |mode: &str, names: &[&str], expected: &[&str], contents: &[(&str, Option<&str>)]| {
        let (world, id) = started();
        let params = json!({"manifest_id": id, "changes": changes(names), "mode": mode});
        let planned = world.data("roundtrip_preview", params.clone());
        let done = world.data("roundtrip_commit", params);
        assert_eq!(fates(&planned["changes"], "would"), expected, "{mode} {names:?}");
        assert_eq!(fates(&done["files"], "done"), expected, "{mode} {names:?}");
        for (name, content) in contents {
            let found = fs::read_to_string(world.real(&format!("notes/{name}.md"))).ok();
            assert_eq!(found.as_deref(), *content, "{mode} {names:?} {name}");
        }
    };
    let both = ["old", "new"];
    check(
        "replace",
        &both,
        &["/notes/new.md create", "/notes/old.md replace"],
        &[("old", Some("old 2\n")), ("new", Some("new 2\n")), ("kept", Some("kept\n"))],
    );
    check(
        "add_only",
        &both,
        &["/notes/new.md create", "/notes/old.md skip"],
        &[("old", Some("old\n")), ("new", Some("new 2\n"))],
    );
    check(
        "update_only",
        &both,
        &["/notes/new.md skip", "/notes/old.md replace"],
        &[("old", Some("old 2\n")), ("new", None)],
    );
    // Files outside the manifest may be created, but are never overwritten.
    check("replace", &["d/other"], &["/notes/d/other.md create"], &[("d/other", Some("d/other 2\n"))]);
    check("add_only", &["d/other"], &["/notes/d/other.md create"], &[("d/other", Some("d/other 2\n"))]);
    check("update_only", &["d/other"], &["/notes/d/other.md skip"], &[("d/other", None)]);
    check("add_only", &["unseen"], &["/notes/unseen.md skip"], &[("unseen", Some("?\n"))]);
    for mode in ["replace", "update_only"] {
        let (world, id) = started();
        let params = json!({"manifest_id": id, "changes": changes(&["unseen", "old"]), "mode": mode});
        let planned = world.data("roundtrip_preview", params.clone());
        let expected = ["/notes/old.md replace", "/notes/unseen.md conflict"];
        assert_eq!(fates(&planned["changes"], "would"), expected);
        let failure = world.failure("roundtrip_commit", params);
        assert_eq!(
            failure,
            "conflict: differs from the manifest: /notes/unseen.md is there and was not read"
        );
        assert_eq!(world.read("notes/old.md"), "old\n");
    }
}

#[test]
fn a_file_with_equal_content_is_unchanged() {
    for mode in ["replace", "add_only", "update_only"] {
        let (world, id) = started();
        let changes = json!([
            {"path": "/notes/old.md", "content": "old\n"},
            {"path": "/notes/unseen.md", "content": "?\n"},
        ]);
        let params = json!({"manifest_id": id, "changes": changes, "mode": mode});
        let done = world.data("roundtrip_commit", params);
        let expected = ["/notes/old.md unchanged", "/notes/unseen.md unchanged"];
        assert_eq!(fates(&done["files"], "done"), expected);
    }
}

#[test]
fn any_change_to_a_manifest_file_conflicts() {
    let touch: [(&str, Act); 5] = [
        ("/notes/kept.md has changed", |world| world.write("notes/kept.md", b"other")),
        ("/notes/kept.md is gone", |world| fs::remove_file(world.real("notes/kept.md")).unwrap()),
        ("/notes/new.md is there now", |world| world.write("notes/new.md", b"theirs")),
        ("/notes/new.md is a directory", |world| fs::create_dir(world.real("notes/new.md")).unwrap()),
        ("/notes/old.md has changed", |world| world.write("notes/old.md", &[7; 2 << 20])),
    ];
    for mode in ["replace", "add_only", "update_only"] {
        for (expected, touch) in &touch {
            let (world, id) = started();
            touch(&world);
            let params = json!({"manifest_id": id, "changes": changes(&["old", "d/other"]), "mode": mode});
            let failure = world.reply("roundtrip_commit", params.clone()).unwrap_err();
            assert_eq!(failure.to_string(), format!("conflict: differs from the manifest: {expected}"));
            let next = failure.next.as_ref().unwrap();
            assert_eq!(next.action, "roundtrip_start");
            let again = world.reply("roundtrip_start", Value::Object(next.params.clone()));
            assert!(again.is_ok() || expected.contains("old"), "{again:?}");
            let preview = world.reply("roundtrip_preview", params).unwrap();
            assert_eq!(preview.data["conflicts"], failure.details.as_ref().unwrap()["files"]);
            assert_eq!(preview.message.as_deref(), Some("1 conflict: the commit would be refused."));
            assert!(!world.real("notes/d").exists());
        }
    }
}
