//! `archive`.

use super::*;

#[test]
fn an_epic_is_archived_with_all_below() {
    let world = World::login();
    let reply = world.reply("archive", json!({"id": "e_0001"})).unwrap();
    assert_eq!(reply.data, json!({"id": "e_0001", "title": "Login", "archived": true, "version": 2}));
    assert_eq!(reply.message.as_deref(), Some("Archived, with 2 features and 5 tasks."));
    for kind in ["epic", "feature", "task"] {
        assert_eq!(world.ids(json!({"kind": kind})), [""; 0], "{kind}");
        assert!(!world.ids(json!({"kind": kind, "state": "archived"})).is_empty(), "{kind}");
    }
    let again = world.data("archive", json!({"id": "e_0001"}));
    assert_eq!(again["version"], 2, "the same again is no change");
}

#[test]
fn nothing_below_an_archived_item_changes() {
    let world = World::login();
    world.data("archive", json!({"id": "f_0001"}));
    let cases = [
        ("complete_task_with_validation", json!({"id": "t_0001"})),
        ("upsert", json!({"id": "t_0001", "state": "in_progress"})),
        ("upsert", json!({"id": "f_0001", "version": 2, "title": "X"})),
        ("upsert", json!({"parent": "f_0001", "title": "X"})),
        ("upsert", json!({"id": "t_0004", "version": 1, "parent": "f_0001"})),
        ("archive", json!({"id": "t_0001", "archived": false})),
    ];
    let lines = cases.map(|(action, params)| {
        let failure = world.reply(action, params.clone()).unwrap_err();
        format!("{action} {params}\n    {}", explained(&failure))
    });
    insta::assert_snapshot!(lines.join("\n"));
    world.data("archive", json!({"id": "e_0001"}));
    let plan = world.reply("plan", json!({"id": "e_0001"})).unwrap_err();
    assert_eq!(plan.to_string(), "conflict: `e_0001` is archived");
}

#[test]
fn restoring_brings_back_what_was_there() {
    let world = World::login();
    world.data("archive", json!({"id": "t_0001"}));
    let archived = world.reply("archive", json!({"id": "f_0001"})).unwrap();
    assert_eq!(archived.message.as_deref(), Some("Archived, with 2 tasks."));
    let restored = world.reply("archive", json!({"id": "f_0001", "archived": false})).unwrap();
    assert_eq!(restored.message.as_deref(), Some("Restored, with 2 tasks."));
    assert_eq!(world.ids(json!({"kind": "task", "parent": "f_0001"})), ["t_0002", "t_0003"]);
    assert_eq!(world.ids(json!({"kind": "task", "state": "archived"})), ["t_0001"]);
    world.data("archive", json!({"id": "t_0001", "archived": false}));
    assert_eq!(world.ids(json!({"kind": "task", "state": "archived"})), [""; 0]);
}

#[test]
fn archived_items_neither_block_nor_count() {
    let world = World::login();
    world.data("archive", json!({"id": "t_0001"}));
    assert_eq!(world.state("t_0002"), "todo");
    world.data("archive", json!({"id": "f_0001"}));
    assert_eq!(world.state("t_0004"), "todo");
    let progress = world.data("progress", json!({"id": "e_0001"}));
    assert_eq!(progress["tasks"], json!({"todo": 1, "blocked": 1}));
    let whole = world.data("get", json!({"id": "e_0001"}));
    assert_eq!(whole["features"].as_array().unwrap().len(), 1);
    let hidden = world.data("get", json!({"id": "f_0001"}));
    assert_eq!((&hidden["archived"], hidden["tasks"].as_array().unwrap().len()), (&json!(true), 3));
}
