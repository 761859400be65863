//! Several actions, in sequence and concurrently.

use super::*;

#[test]
fn an_epic_is_worked_off() {
    let world = World::login();
    let mut steps = 0;
    loop {
        let plan = world.data("plan", json!({"id": "e_0001"}));
        let Some(wave) = plan["waves"].get(0) else { break };
        for task in wave.as_array().unwrap() {
            world.data("upsert", json!({"id": task["id"], "state": "in_progress"}));
            world.data("complete_task_with_validation", json!({"id": task["id"]}));
            steps += 1;
        }
    }
    assert_eq!(steps, 5);
    assert_eq!(world.state("e_0001"), "done");
}

#[test]
fn conflicts_only_cost_a_retry() {
    let world = World::login();
    for (action, params) in [
        ("create_epic_complete", login()),
        ("upsert", json!({"id": "t_0001", "state": "in_progress"})),
        ("upsert", json!({"parent": "f_0001", "title": "More"})),
        ("complete_task_with_validation", json!({"id": "t_0001"})),
        ("archive", json!({"id": "t_0003"})),
    ] {
        world.store.conflicts(3);
        world.data(action, params);
    }
    assert_eq!(world.ids(json!({"kind": "task", "parent": "f_0001"})), ["t_0001", "t_0002", "t_0011"]);
}
