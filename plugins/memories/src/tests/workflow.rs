//! Several actions, in sequence and concurrently.

use super::*;

#[test]
fn a_memory_lives_from_add_to_delete() {
    let world = World::default();
    let id = world.data("add", json!({"title": "Meets on Tuesdays", "tags": ["work"]}))["id"].clone();
    world.data("add", json!({"title": "Meets in room 4"}));
    world.data("link", json!({"id": id, "to": "m_0002", "relation": "where"}));
    let found = |query: &str| world.ids("search", json!({"query": query, "mode": "words"}));
    assert_eq!(found("meeting"), ["m_0002", "m_0001"]);
    world.data("update", json!({"id": id, "title": "Meets on Thursdays"}));
    assert_eq!(found("tuesday"), [""; 0]);
    assert_eq!(found("thursday"), ["m_0001"]);
    world.data("pin", json!({"id": id}));
    assert_eq!(world.ids("list", json!({})), ["m_0001", "m_0002"]);
    world.data("archive", json!({"id": "m_0002"}));
    assert_eq!(world.ids("list", json!({})), ["m_0001"]);
    world.data("delete", json!({"id": id}));
    assert_eq!(world.ids("list", json!({})), [""; 0]);
}

#[test]
fn conflicts_only_cost_a_retry() {
    let world = World::with(&["Tea"]);
    for (action, params) in [
        ("add", json!({"title": "Milk"})),
        ("update", json!({"id": "m_0001", "body": "Green."})),
        ("pin", json!({"id": "m_0001"})),
        ("link", json!({"id": "m_0001", "to": "m_0002"})),
        ("delete", json!({"id": "m_0001"})),
    ] {
        world.store.conflicts(3);
        world.data(action, params);
    }
    assert_eq!(world.ids("search", json!({"query": "tea milk green"})), ["m_0002"]);
    assert_eq!(world.ids("list", json!({})), ["m_0002"]);
}
