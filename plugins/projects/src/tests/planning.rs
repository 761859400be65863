//! `plan` and `progress`.

use super::*;

/// The waves of a plan, as ids.
fn waves(plan: &Value) -> Vec<Vec<&str>> {
    let waves = plan["waves"].as_array().unwrap().iter();
    waves
        .map(|wave| wave.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect())
        .collect()
}

#[test]
fn a_plan_has_waves_and_a_critical_path() {
    let world = World::login();
    insta::assert_snapshot!(shown(&world.reply("plan", json!({"id": "e_0001"})).unwrap()));
}

#[test]
fn open_tasks_are_planned_in_order() {
    let check = |features: Value, expected: &[&[&str]], critical: &[&str]| {
        let world = World::default();
        world.data("create_epic_complete", json!({"title": "E", "features": features.clone()}));
        let plan = world.data("plan", json!({"id": "t_0001"}));
        assert_eq!(waves(&plan), expected, "{features}");
        assert_eq!(plan["critical_path"]["tasks"], json!(critical), "{features}");
    };
    let task = |title: &str| json!({"title": title});
    // Without dependencies, all at once; the critical path is one task.
    check(json!([{"title": "A", "tasks": [task("a"), task("b")]}]), &[&["t_0001", "t_0002"]], &["t_0001"]);
    // A feature waits for all tasks of the other.
    check(
        json!([{"title": "A", "depends_on": ["1"], "tasks": [task("a")]}, {"title": "B", "tasks": [task("b"), task("c")]}]),
        &[&["t_0002", "t_0003"], &["t_0001"]],
        &["t_0002", "t_0001"],
    );
    // A feature without tasks blocks nothing.
    check(
        json!([{"title": "A", "depends_on": ["1"], "tasks": [task("a")]}, {"title": "B"}]),
        &[&["t_0001"]],
        &["t_0001"],
    );
    // `order` decides among those that could be next; one that cannot run beside others has a wave of its own.
    check(
        json!([{"title": "A", "tasks": [
            {"title": "a", "spec": {"order": 9}},
            {"title": "b", "spec": {"order": 1}},
            {"title": "c", "spec": {"order": 2, "can_run_in_parallel": false}},
            {"title": "d", "depends_on": ["2"], "spec": {"order": 3}},
        ]}]),
        &[&["t_0002", "t_0001"], &["t_0003"], &["t_0004"]],
        &["t_0003", "t_0004"],
    );
    // Estimates weigh more than the number of tasks.
    check(
        json!([{"title": "A", "tasks": [
            {"title": "a", "spec": {"estimate": 100}},
            {"title": "b", "spec": {"estimate": 10}},
            {"title": "c", "depends_on": ["1"], "spec": {"estimate": 10}},
            {"title": "d", "depends_on": ["0", "2"]},
        ]}]),
        &[&["t_0001", "t_0002"], &["t_0003"], &["t_0004"]],
        &["t_0001", "t_0004"],
    );
}

#[test]
fn a_plan_shrinks_as_tasks_are_done() {
    let world = World::login();
    world.complete(&["t_0001"]);
    world.data("upsert", json!({"id": "t_0002", "state": "in_progress"}));
    let plan = world.data("plan", json!({"id": "e_0001"}));
    assert_eq!(waves(&plan), [vec!["t_0002", "t_0003"], vec!["t_0004"], vec!["t_0005"]]);
    world.complete(&["t_0002", "t_0003", "t_0004", "t_0005"]);
    let reply = world.reply("plan", json!({"id": "e_0001"})).unwrap();
    assert_eq!((&reply.data["waves"], reply.message.as_deref()), (&json!([]), Some("No open tasks.")));
}

#[test]
fn a_stored_cycle_is_named() {
    let world = World::login();
    let mut epic = world.store.value("epics/e_0001").unwrap();
    epic["tasks"][0]["depends_on"] = json!(["t_0002"]);
    world.store.put("epics/e_0001", epic);
    let failure = world.reply("plan", json!({"id": "e_0001"})).unwrap_err();
    insta::assert_snapshot!(explained(&failure), @r#"
    conflict: dependencies form a cycle: t_0001 "Schema" → t_0002 "Endpoint" → t_0001 "Schema"
        `upsert` removes one of these dependencies.
    "#);
}

#[test]
fn progress_counts_features_and_blocked_tasks() {
    let world = World::login();
    world.complete(&["t_0001"]);
    world.data("upsert", json!({"id": "t_0003", "state": "cancelled"}));
    world.data("upsert", json!({"id": "t_0002", "state": "in_progress"}));
    insta::assert_snapshot!(shown(&world.reply("progress", json!({"id": "e_0001"})).unwrap()));
}

#[test]
fn an_epic_is_done_with_its_tasks() {
    let world = World::login();
    assert_eq!(world.state("e_0001"), "todo");
    world.complete(&["t_0001", "t_0002", "t_0003", "t_0004"]);
    let progress = world.data("progress", json!({"id": "e_0001"}));
    assert_eq!((&progress["percent"], &progress["state"]), (&json!(80), &json!("in_progress")));
    world.complete(&["t_0005"]);
    let progress = world.data("progress", json!({"id": "e_0001"}));
    assert_eq!((&progress["percent"], &progress["state"]), (&json!(100), &json!("done")));
    let empty = world.data("upsert", json!({"title": "Empty"}));
    assert_eq!(world.data("progress", json!({"id": empty["id"]}))["percent"], 0);
}
