//! `upsert`.

use super::*;

#[test]
fn items_are_created_below_their_parents() {
    let world = World::login();
    let feature =
        world.data("upsert", json!({"parent": "e_0001", "title": "Docs", "depends_on": ["f_0002"]}));
    assert_eq!(feature, json!({"id": "f_0003", "title": "Docs", "state": "todo", "version": 1}));
    let task = world.data(
        "upsert",
        json!({"parent": "f_0003", "title": "Guide", "spec": {"estimate": 20, "acceptance": ["Short."]}}),
    );
    assert_eq!(
        task,
        json!({"id": "t_0006", "title": "Guide", "state": "blocked", "version": 1, "blocked_by": ["f_0002"]})
    );
    let epic = world.data("upsert", json!({"title": "Later", "spec": {"acceptance": ["Agreed."]}}));
    assert_eq!(epic["id"], "e_0002");
    assert_eq!(world.data("get", json!({"id": "e_0002"}))["spec"], json!({"acceptance": ["Agreed."]}));
}

#[test]
fn only_given_fields_change() {
    let world = World::login();
    let spec = json!({"instructions": "Two tables.", "estimate": 40});
    world.data("upsert", json!({"id": "t_0001", "version": 1, "title": "Tables", "spec": spec}));
    let task = world.data("get", json!({"id": "t_0001"}));
    assert_eq!((&task["title"], &task["version"]), (&json!("Tables"), &json!(2)));
    assert_eq!(
        task["spec"],
        json!({"instructions": "Two tables.", "files": ["/src/schema.sql"], "order": 1, "estimate": 40})
    );
    world.data(
        "upsert",
        json!({"id": "t_0001", "version": 2, "spec": {"instructions": "", "files": [], "estimate": 0}}),
    );
    assert_eq!(world.data("get", json!({"id": "t_0001"}))["spec"], json!({"order": 1}));
    let same = world.data("upsert", json!({"id": "t_0001", "version": 3, "title": "Tables"}));
    assert_eq!(same["version"], 3, "the same again is no change");
}

#[test]
fn changes_name_the_version_seen() {
    let world = World::login();
    insta::assert_snapshot!(
        [json!({"id": "t_0001", "title": "X"}), json!({"id": "t_0001", "version": 7, "title": "X"})]
            .map(|params| explained(&world.reply("upsert", params).unwrap_err()))
            .join("\n"),
        @r#"
    invalid_params: `version` is required to change `t_0001`
        Pass the `version` that you have seen, so that no other change is overwritten.
        > get {"id":"t_0001"}, to see what it is now
    conflict: `t_0001` was changed: it has version 1, not 7
        Read it, and make your change to what it is now.
        > get {"id":"t_0001"}, to see what it is now
    "#
    );
    // A transition is checked against the current state.
    assert_eq!(world.data("upsert", json!({"id": "t_0001", "state": "in_progress"}))["version"], 2);
    let stale = json!({"id": "t_0001", "state": "todo", "version": 1});
    assert_eq!(world.failure("upsert", stale), "conflict: `t_0001` was changed: it has version 2, not 1");
}

#[test]
fn states_change_along_transitions() {
    let check = |from: &str, to: &str, expected: Result<&str, &str>| {
        let world = World::login();
        match from {
            "todo" => {}
            "done" => world.complete(&["t_0001"]),
            state => drop(world.data("upsert", json!({"id": "t_0001", "state": state}))),
        }
        let reply = world.reply("upsert", json!({"id": "t_0001", "state": to}));
        let got = reply.map(|reply| reply.data["state"].as_str().unwrap().to_owned());
        let got = got.as_deref().map_err(|failure| failure.message.as_str());
        assert_eq!(got, expected, "{from} → {to}");
    };
    check("todo", "todo", Ok("todo"));
    check("todo", "in_progress", Ok("in_progress"));
    check("todo", "cancelled", Ok("cancelled"));
    check("in_progress", "todo", Ok("todo"));
    check("in_progress", "cancelled", Ok("cancelled"));
    check("cancelled", "todo", Ok("todo"));
    check("done", "todo", Ok("todo"));
    check("done", "in_progress", Err("`t_0001` is done: it cannot become in_progress"));
    check("done", "cancelled", Err("`t_0001` is done: it cannot become cancelled"));
    check("cancelled", "in_progress", Err("`t_0001` is cancelled: it cannot become in_progress"));
    check("todo", "done", Err("`state` must be one of todo, in_progress, cancelled (got \"done\")"));
}

#[test]
fn a_blocked_task_starts_only_if_told() {
    let world = World::login();
    let start = json!({"id": "t_0002", "state": "in_progress"});
    assert_eq!(
        world.failure("upsert", start),
        "conflict: `t_0002` cannot be started yet: it depends on `t_0001` \"Schema\""
    );
    let start = json!({"id": "t_0002", "state": "in_progress", "ignore_dependencies": true});
    let started = world.data("upsert", start);
    assert_eq!((&started["state"], &started["blocked_by"]), (&json!("in_progress"), &json!(["t_0001"])));
}

#[test]
fn reopening_blocks_what_depends_on_it() {
    let world = World::login();
    world.complete(&["t_0001"]);
    assert_eq!(world.state("t_0002"), "todo");
    world.data("upsert", json!({"id": "t_0001", "state": "todo"}));
    assert_eq!(world.state("t_0002"), "blocked");
    assert!(world.data("get", json!({"id": "t_0001"}))["completed"].is_null());
}

#[test]
fn cancelled_tasks_block_nothing() {
    let world = World::login();
    world.data("upsert", json!({"id": "t_0001", "state": "cancelled"}));
    assert_eq!(world.state("t_0002"), "todo");
    world.complete(&["t_0002", "t_0003"]);
    assert_eq!((world.state("f_0001"), world.state("t_0004")), ("done".to_owned(), "todo".to_owned()));
}

#[test]
fn tasks_move_between_features() {
    let world = World::login();
    world.data("upsert", json!({"id": "t_0003", "version": 1, "parent": "f_0002"}));
    assert_eq!(world.ids(json!({"kind": "task", "parent": "f_0002"})), ["t_0003", "t_0004", "t_0005"]);
    // `t_0002` is in `f_0001`, which `f_0002` waits for.
    world.data("upsert", json!({"id": "t_0002", "version": 1, "depends_on": ["t_0003"], "parent": "f_0002"}));
    let back = json!({"id": "t_0002", "version": 2, "parent": "f_0001"});
    assert!(world.failure("upsert", back).contains("dependencies would form a cycle"));
}

#[test]
fn wrong_changes_are_explained() {
    let world = World::login();
    world.data("upsert", json!({"title": "Other"}));
    world.data("upsert", json!({"parent": "e_0002", "title": "Foreign"}));
    let cases = [
        json!({}),
        json!({"version": 1, "title": "X"}),
        json!({"parent": "t_0001", "title": "X"}),
        json!({"parent": "x_1", "title": "X"}),
        json!({"parent": "f_0099", "title": "X"}),
        json!({"title": "X", "state": "todo"}),
        json!({"title": "X", "depends_on": ["e_0001"]}),
        json!({"title": "X", "spec": {"order": 1}}),
        json!({"parent": "e_0001", "title": "X", "spec": {"estimate": 10}}),
        json!({"parent": "e_0001", "title": "X", "spec": {"files": ["/a"]}}),
        json!({"parent": "f_0002", "title": "X", "depends_on": ["t_0099"]}),
        json!({"parent": "f_0002", "title": "X", "state": "in_progress"}),
        json!({"id": "t_0001"}),
        json!({"id": "x_1", "title": "X"}),
        json!({"id": "e_0009", "version": 1, "title": "X"}),
        json!({"id": "t_0001", "version": 1, "depends_on": ["t_0001"]}),
        json!({"id": "t_0001", "version": 1, "depends_on": ["t_0002"]}),
        json!({"id": "t_0001", "version": 1, "depends_on": ["t_0004"]}),
        json!({"id": "t_0001", "version": 1, "depends_on": ["f_0002"]}),
        json!({"id": "f_0001", "version": 1, "depends_on": ["f_0002"]}),
        json!({"id": "f_0001", "version": 1, "depends_on": ["f_0003"]}),
        json!({"id": "t_0001", "version": 1, "parent": "f_0003"}),
        json!({"id": "f_0001", "version": 1, "parent": "e_0002"}),
        json!({"id": "f_0001", "state": "cancelled"}),
        json!({"id": "t_0001", "version": 1, "title": "x\ty"}),
        json!({"id": "t_0001", "version": 1, "spec": {"colour": "red"}}),
    ];
    let before = world.store.keys();
    let line = |params: Value| {
        let failure = world.reply("upsert", params.clone()).unwrap_err();
        format!("{params}\n    {}", explained(&failure))
    };
    let lines: Vec<_> = cases.into_iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(world.store.keys(), before);
}
