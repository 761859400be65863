//! `create_epic_complete`.

use super::*;

#[test]
fn all_ids_come_in_the_requests_shape() {
    let world = World::default();
    insta::assert_snapshot!(shown(&world.reply("create_epic_complete", login()).unwrap()), @r#"
    {
      "id": "e_0001",
      "features": [
        {
          "id": "f_0001",
          "tasks": [
            "t_0001",
            "t_0002",
            "t_0003"
          ]
        },
        {
          "id": "f_0002",
          "tasks": [
            "t_0004",
            "t_0005"
          ]
        }
      ]
    }
    + Created with 2 features and 5 tasks.
        > plan {"id":"e_0001"}, to see what can begin
    "#);
    let second = world.data("create_epic_complete", login());
    assert_eq!((&second["id"], &second["features"][1]["tasks"][1]), (&json!("e_0002"), &json!("t_0010")));
}

#[test]
fn dependencies_by_index_become_ids() {
    let world = World::default();
    let features = json!([
        {"title": "A", "depends_on": ["1"], "tasks": [
            {"title": "A0", "depends_on": ["1", "1.1", "0.1"]},
            {"title": "A1"},
        ]},
        {"title": "B", "tasks": [{"title": "B0", "depends_on": ["1"]}, {"title": "B1"}]},
    ]);
    world.data("create_epic_complete", json!({"title": "E", "features": features}));
    let depends_on = |id: &str| world.data("get", json!({"id": id}))["depends_on"].clone();
    assert_eq!(depends_on("t_0001"), json!(["t_0002", "t_0004"]), "one for each item");
    assert_eq!(depends_on("t_0003"), json!(["t_0004"]), "also a later one");
    assert_eq!(depends_on("f_0001"), json!(["f_0002"]));
}

#[test]
fn everything_given_is_stored() {
    let world = World::login();
    let task = world.data("get", json!({"id": "t_0002"}));
    assert_eq!(
        task,
        json!({
            "id": "t_0002", "title": "Endpoint", "state": "blocked", "version": 1, "epic": "e_0001",
            "feature": "f_0001", "depends_on": ["t_0001"], "blocked_by": ["t_0001"],
            "spec": {"instructions": "POST /login, with rate limits.", "acceptance": ["Wrong passwords answer 401."],
                "order": 2, "estimate": 90},
        })
    );
    let alone = world.data("get", json!({"id": "t_0005"}));
    assert_eq!(alone["spec"], json!({"order": 2, "can_run_in_parallel": false}));
}

#[test]
fn wrong_requests_name_the_place() {
    let tasks = |tasks: Value| json!({"title": "E", "features": [{"title": "A", "tasks": tasks}]});
    let features = |features: Value| json!({"title": "E", "features": features});
    let long = "x".repeat(16_001);
    let cases = [
        ("no features", json!({"title": "E"})),
        ("empty features", features(json!([]))),
        ("a blank title", json!({"title": " ", "features": [{"title": "A"}]})),
        ("a title of two lines", tasks(json!([{"title": "a\nb"}]))),
        ("a feature without title", features(json!([{"tasks": []}]))),
        ("an unknown member", tasks(json!([{"title": "a", "colour": "red"}]))),
        ("a number as index", tasks(json!([{"title": "a"}, {"title": "b", "depends_on": [0]}]))),
        ("a title as index", tasks(json!([{"title": "a"}, {"title": "b", "depends_on": ["a"]}]))),
        ("itself", tasks(json!([{"title": "a", "depends_on": ["0"]}]))),
        ("itself with its feature", tasks(json!([{"title": "a"}, {"title": "b", "depends_on": ["0.1"]}]))),
        ("an unknown task", tasks(json!([{"title": "a", "depends_on": ["1"]}]))),
        ("an unknown task of several", tasks(json!([{"title": "a", "depends_on": ["7"]}, {"title": "b"}]))),
        ("an unknown feature of a task", tasks(json!([{"title": "a", "depends_on": ["1.0"]}]))),
        (
            "a task of an empty feature",
            features(json!([
                {"title": "A", "tasks": [{"title": "a", "depends_on": ["1.0"]}]}, {"title": "B"},
            ])),
        ),
        ("an unknown feature", features(json!([{"title": "A", "depends_on": ["2"]}, {"title": "B"}]))),
        ("a feature itself", features(json!([{"title": "A", "depends_on": ["0"]}]))),
        (
            "a cycle of tasks",
            tasks(json!([
                {"title": "a", "depends_on": ["2"]}, {"title": "b", "depends_on": ["0"]}, {"title": "c", "depends_on": ["1"]},
            ])),
        ),
        (
            "a cycle of features",
            features(json!([
                {"title": "A", "depends_on": ["1"]}, {"title": "B", "depends_on": ["0"]},
            ])),
        ),
        (
            "a cycle through a feature",
            features(json!([
                {"title": "A", "tasks": [{"title": "a", "depends_on": ["1.0"]}]},
                {"title": "B", "depends_on": ["0"], "tasks": [{"title": "b"}]},
            ])),
        ),
        ("long instructions", tasks(json!([{"title": "a", "spec": {"instructions": long}}]))),
        ("an empty criterion", tasks(json!([{"title": "a", "spec": {"acceptance": [""]}}]))),
        (
            "an unknown validation",
            tasks(json!([{"title": "a", "spec": {"validations": [{"file_exist": "/a"}]}}])),
        ),
        (
            "a validation without call",
            tasks(json!([{"title": "a", "spec": {"validations": [
                {"invoke": {"call": "files", "equals": "1"}},
            ]}}])),
        ),
        (
            "a wrong pointer",
            tasks(json!([{"title": "a", "spec": {"validations": [
                {"invoke": {"call": "files.stat", "pointer": "kind", "equals": "file"}},
            ]}}])),
        ),
    ];
    let world = World::default();
    let line = |(name, params): (&str, Value)| {
        let failure = world.reply("create_epic_complete", params).unwrap_err();
        format!("{name}: {}", explained(&failure))
    };
    let lines: Vec<_> = cases.into_iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(world.store.keys(), [""; 0], "nothing was kept");
}

#[test]
fn nothing_is_kept_if_the_store_is_full() {
    let store = Store::new().quota(1_500);
    let host = Host::new().store(&store);
    let small = json!({"title": "Small", "features": [{"title": "A"}]});
    host.call(&Projects, "create_epic_complete", small.clone()).unwrap();
    let before = store.keys();
    let failure = host.call(&Projects, "create_epic_complete", login()).unwrap_err();
    assert!(failure.message.starts_with("no space left"), "{failure}");
    assert_eq!(store.keys(), before);
    let next = host.call(&Projects, "create_epic_complete", small).unwrap();
    assert_eq!(next.data["id"], "e_0002");
}
