//! Several actions in sequence.

use super::*;

#[test]
fn a_document_lives_from_add_to_delete() {
    let world = World::filled();
    let again = world.failure("add", json!({"text": GUIDE, "source": "docs/guide.md"}));
    assert_eq!(again.next.as_ref().unwrap().params["id"], "k_0001");

    let text = GUIDE.replace("vinegar", "lemon juice").replace("# Guide", "# New guide");
    let replaced = world.data("add", json!({"text": text, "source": "docs/guide.md", "replace": "k_0001"}));
    assert_eq!(replaced, json!({"id": "k_0001", "title": "Guide", "chunks": 4}));
    assert_eq!(world.data("search", json!({"query": "vinegar", "mode": "words"})), json!([]));
    assert_eq!(places(&world.data("search", json!({"query": "lemons"}))), ["k_0001/4"]);
    let shown = world.detailed(Detail::Full, "get", json!({"id": "k_0001"}));
    assert_eq!(
        (&shown["source"], &shown["tags"][1]),
        (&json!("docs/guide.md"), &json!("coffee")),
        "they stay"
    );
    assert_eq!((&shown["title"], shown["changed"].is_string()), (&json!("Guide"), true));
    world.data("add", json!({"text": "Tagged.", "tags": [" a", "a ", "", "b"]}));
    assert_eq!(world.data("list", json!({"tag": "a"}))[0]["tags"], json!(["a", "b"]));
    world.data("delete", json!({"id": "k_0003"}));

    let renamed = json!({"text": text, "title": "Machine", "tags": [], "source": "docs/machine.md", "replace": "k_0001"});
    assert_eq!(world.data("add", renamed)["title"], "Machine");
    assert_eq!(world.data("add", json!({"text": GUIDE, "source": "docs/guide.md"}))["id"], "k_0004");
    assert_eq!(world.data("list", json!({"tag": "coffee"})), json!([]));

    world.data("chunk", json!({"id": "k_0001", "size": 200, "overlap": 0}));
    world.data("delete", json!({"id": "k_0001"}));
    assert_eq!(places(&world.data("search", json!({"query": "lemon"}))), Vec::<String>::new());
    assert_eq!(places(&world.data("search", json!({"query": "vinegar"}))), ["k_0004/4"]);
}

#[test]
fn conflicting_appends_are_retried() {
    let world = World::filled();
    world.store.conflicts(3);
    assert_eq!(world.data("add", json!({"text": "Third."}))["id"], "k_0003");
    world.store.conflicts(3);
    world.data("chunk", json!({"id": "k_0001", "size": 300}));
    world.store.conflicts(3);
    world.data("delete", json!({"id": "k_0002"}));
    assert_eq!(
        places(&world.data("search", json!({"query": "third button flour"}))),
        ["k_0003/1", "k_0001/3"]
    );
}

#[test]
fn equal_text_from_two_sources_is_two_documents() {
    let world = World::new();
    world.data("add", json!({"text": "Same.", "source": "a"}));
    world.data("add", json!({"text": "Same.", "source": "b"}));
    world.data("add", json!({"text": "Same."}));
    assert_eq!(world.failure("add", json!({"text": "Same."})).next.as_ref().unwrap().params["id"], "k_0003");
    assert_eq!(world.data("list", json!({})).as_array().unwrap().len(), 3);
}
