//! Failing calls and their error messages.

use super::*;

#[test]
fn missing_and_out_of_range_parameters_are_named() {
    let world = World::with(&["Tea"]);
    let check = |action: &str, params: Value, expected: &str| {
        let said = world.failure(action, params.clone());
        assert!(said.contains(expected), "{action} {params}: {said}");
    };
    check("add", json!({}), "`title` is required");
    check("add", json!({"title": ""}), "`title`");
    check("add", json!({"title": "x".repeat(201)}), "`title`");
    check("add", json!({"title": "Tea", "body": 7}), "`body`");
    check("add", json!({"title": "Tea", "tags": [""]}), "a tag has 1 to 64 characters");
    check("add", json!({"title": "Tea", "colour": "green"}), "`colour`");
    check("search", json!({}), "`query` is required");
    check("search", json!({"query": "tea", "limit": 0}), "`limit`");
    check("search", json!({"query": "tea", "mode": "magic"}), "`mode`");
    check("update", json!({"id": "m_0001"}), "nothing to change");
    check("link", json!({"id": "m_0001", "to": "m_0001"}), "cannot be linked to itself");
    check("graph", json!({"id": "m_0001", "query": "tea"}), "`id` and `query` exclude each other");
    check("graph", json!({"depth": 4}), "`depth`");
    check("graph", json!({"id": "m_0009"}), "there is no memory `m_0009`");
    check("import", json!({}), "`text` is required, or `path`");
    check("import", json!({"text": "x", "path": "/a"}), "`text` and `path` exclude each other");
    check("list", json!({"cursor": "somewhere"}), "`cursor` is not one");
    check("forget", json!({}), "Unknown action");
}

#[test]
fn an_unknown_memory_id_hints_at_search() {
    let world = World::with(&["Tea"]);
    for id in ["m_0002", "m_", "m_x", "1", "n_1", "m_99999999999"] {
        for (action, params) in [
            ("get", json!({"id": id})),
            ("update", json!({"id": id, "title": "x"})),
            ("delete", json!({"id": id})),
            ("pin", json!({"id": id})),
            ("archive", json!({"id": id})),
            ("link", json!({"id": id, "to": "m_0001"})),
            ("link", json!({"id": "m_0001", "to": id})),
        ] {
            let failure = world.reply(action, params).unwrap_err();
            assert_eq!(
                failure.to_string(),
                format!("not_found: not found: there is no memory `{id}`"),
                "{action}"
            );
            assert!(failure.hint.is_some() && failure.next.is_some());
        }
    }
    assert!(
        world.data("get", json!({"id": "m_0001"}))["links"].is_null(),
        "a link to nothing is no half link"
    );
}

#[test]
fn fifty_may_be_pinned() {
    let titles: Vec<String> = (1..=51).map(|n| format!("Memory {n}")).collect();
    let world = World::with(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    for n in 1..=50 {
        world.data("pin", json!({"id": format!("m_{n:04}")}));
    }
    world.data("pin", json!({"id": "m_0050"}));
    assert_eq!(world.failure("pin", json!({"id": "m_0051"})), "conflict: 50 memories are pinned already");
    assert!(world.data("get", json!({"id": "m_0051"}))["pinned"].is_null());
}

#[test]
fn without_a_store_the_missing_grant_is_named() {
    let failure = Host::new().call(&Memories, "add", json!({"title": "Tea"})).unwrap_err();
    assert_eq!(failure.code, "denied");
    assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("store = true")));
}
