//! `get` and `list`.

use super::*;

#[test]
fn an_item_is_as_detailed_as_wanted() {
    let world = World::login();
    let mut shown_all = String::new();
    for id in ["e_0001", "f_0001", "t_0002"] {
        for detail in [Detail::Minimal, Detail::Standard, Detail::Full] {
            let reply = world.host().detail(detail).call(&Projects, "get", json!({"id": id})).unwrap();
            shown_all += &format!("# {id} {detail:?}\n{}\n", shown(&reply));
        }
    }
    insta::assert_snapshot!(shown_all);
}

#[test]
fn parts_come_in_the_order_of_work() {
    let world = World::login();
    world.data("upsert", json!({"id": "f_0002", "version": 1, "spec": {"order": 0}}));
    world.data("upsert", json!({"id": "t_0003", "version": 1, "spec": {"order": 0}}));
    let epic = world.data("get", json!({"id": "e_0001"}));
    assert_eq!(
        (&epic["features"][0]["id"], &epic["features"][1]["tasks"][0]["id"]),
        (&json!("f_0002"), &json!("t_0003"))
    );
}

#[test]
fn lists_are_filtered_and_sorted_by_id() {
    let world = World::login();
    world.data(
        "create_epic_complete",
        json!({"title": "Other", "features": [{"title": "X", "tasks": [{"title": "x"}]}]}),
    );
    world.complete(&["t_0001"]);
    world.data("upsert", json!({"id": "t_0003", "state": "in_progress"}));
    let check = |params: Value, expected: &[&str]| {
        assert_eq!(world.ids(params.clone()), expected, "{params}");
    };
    check(json!({}), &["e_0001", "e_0002"]);
    check(json!({"state": "in_progress"}), &["e_0001"]);
    check(json!({"kind": "feature"}), &["f_0001", "f_0002", "f_0003"]);
    check(json!({"kind": "feature", "parent": "e_0001"}), &["f_0001", "f_0002"]);
    check(json!({"kind": "feature", "state": "blocked"}), &["f_0002"]);
    check(json!({"kind": "task", "state": "todo"}), &["t_0002", "t_0006"]);
    check(json!({"kind": "task", "state": "blocked"}), &["t_0004", "t_0005"]);
    check(json!({"kind": "task", "state": "done"}), &["t_0001"]);
    check(json!({"kind": "task", "parent": "e_0002"}), &["t_0006"]);
    check(json!({"kind": "task", "parent": "f_0002"}), &["t_0004", "t_0005"]);
    check(json!({"kind": "task", "state": "cancelled"}), &[]);
    let rows = world.data("list", json!({"kind": "task", "parent": "f_0002", "limit": 1}));
    assert_eq!(
        rows,
        json!([{"id": "t_0004", "title": "Page", "state": "blocked", "parent": "f_0002", "blocked_by": ["f_0001"]}])
    );
    let rows = world.data("list", json!({"limit": 1}));
    assert_eq!(rows, json!([{"id": "e_0001", "title": "Login", "state": "in_progress", "tasks": "1/5"}]));
}

#[test]
fn pages_hold_each_item_once() {
    let world = World::default();
    for number in 0..12 {
        let tasks: Vec<Value> = (0..number % 4).map(|task| json!({"title": format!("T{task}")})).collect();
        let features = json!([{"title": "F", "tasks": tasks}]);
        world.data("create_epic_complete", json!({"title": format!("E{number}"), "features": features}));
    }
    for (kind, count) in [("epic", 12), ("feature", 12), ("task", 18)] {
        for limit in [1, 2, 3, 5, 200] {
            let (mut seen, mut params) = (Vec::new(), json!({"kind": kind, "limit": limit}));
            loop {
                let reply = world.reply("list", params.clone()).unwrap();
                let rows = reply.data.as_array().unwrap();
                assert!(rows.len() <= limit);
                seen.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
                match reply.page.unwrap().cursor {
                    Some(cursor) => params["cursor"] = json!(cursor),
                    None => break,
                }
            }
            assert_eq!(seen.len(), count, "{kind} {limit}");
            assert!(seen.is_sorted(), "{kind} {limit}: {seen:?}");
        }
    }
}
