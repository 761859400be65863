//! Memories of maximum size, and many of them.

use super::*;

/// This many different words of five letters.
fn words(from: usize, count: usize) -> String {
    (from..from + count).map(|number| format!("{number:05x} ")).collect()
}

impl World {
    /// Creates memories of maximum size.
    fn large(count: usize) -> Self {
        let world = Self::default();
        for number in 0..count {
            world.data("add", json!({"title": format!("t{number}"), "body": words(number * 5400, 5400)}));
        }
        world
    }
}

#[test]
fn long_memories_can_always_be_added() {
    let world = World::large(50);
    let query = format!("{:05x}", 49 * 5400 + 7);
    assert_eq!(world.ids("search", json!({"query": query, "mode": "words"})), ["m_0050"]);
}

#[test]
fn oversized_replies_are_reported() {
    let world = World::large(30);
    for (action, params) in [
        ("list", json!({"limit": 200})),
        (
            "search",
            json!({"query": words(17, 1) + &(1..30).map(|at| words(at * 5400 + 1, 1)).collect::<String>(), "limit": 100}),
        ),
    ] {
        let reply = world.host().detail(Detail::Full).call(&Memories, action, params).unwrap();
        assert_eq!(ids(&reply.data).len(), 30);
        let whole = reply.data.as_array().unwrap().iter().filter(|memory| memory["body"].is_string()).count();
        assert!((10..30).contains(&whole), "{whole}");
        assert!(reply.data.to_string().len() < 900_000);
        let said =
            format!("Too much for one answer: {} only with their title. `get` reads them.", 30 - whole);
        assert_eq!(reply.message, Some(said));
    }
}

#[test]
fn a_hub_of_long_memories_can_be_deleted() {
    let world = World::default();
    world.data("add", json!({"title": "hub"}));
    // Characters that JSON escapes as six.
    let body = "\u{1}".repeat(32_768);
    for number in 2..=101 {
        world.data("add", json!({"title": "spoke", "body": body}));
        world.data("link", json!({"id": "m_0001", "to": format!("m_{number:04}")}));
    }
    world.data("delete", json!({"id": "m_0001"}));
    assert_eq!(world.data("get", json!({"id": "m_0002"})).get("links"), None);
    assert_eq!(world.data("get", json!({"id": "m_0101"})).get("links"), None);
    for number in 2..=51 {
        world.data("pin", json!({"id": format!("m_{number:04}")}));
    }
    assert_eq!(world.ids("list", json!({"limit": 5})).len(), 55);
}
