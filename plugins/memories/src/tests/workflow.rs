//! Several actions, in sequence and concurrently.

use super::*;

#[test]
fn a_memory_lives_from_add_to_delete() {
    let world = World::default();
    let id = world.data("add", json!({"title": "Meets on Tuesdays", "tags": ["work"]}))["id"].clone();
    world.data("add", json!({"title": "Meets in room 4"}));
    world.data("link", json!({"id": id, "to": "m_2", "relation": "where"}));
    assert_eq!(world.ids("search", json!({"query": "meeting"})), ["m_2", "m_1"]);
    world.data("update", json!({"id": id, "title": "Meets on Thursdays"}));
    assert_eq!(world.ids("search", json!({"query": "tuesday"})), [""; 0]);
    assert_eq!(world.ids("search", json!({"query": "thursday"})), ["m_1"]);
    world.data("pin", json!({"id": id}));
    assert_eq!(world.ids("list", json!({})), ["m_1", "m_2"]);
    world.data("archive", json!({"id": "m_2"}));
    assert_eq!(world.ids("list", json!({})), ["m_1"]);
    world.data("delete", json!({"id": id}));
    assert_eq!(world.ids("list", json!({})), [""; 0]);
}

#[test]
fn conflicts_only_cost_a_retry() {
    let world = World::with(&["Tea"]);
    for (action, params) in [
        ("add", json!({"title": "Milk"})),
        ("update", json!({"id": "m_1", "body": "Green."})),
        ("pin", json!({"id": "m_1"})),
        ("link", json!({"id": "m_1", "to": "m_2"})),
        ("delete", json!({"id": "m_1"})),
    ] {
        world.store.conflicts(3);
        world.data(action, params);
    }
    assert_eq!(world.ids("search", json!({"query": "tea milk green"})), ["m_2"]);
    assert_eq!(world.ids("list", json!({})), ["m_2"]);
}
