//! Each action that writes, separately.

use super::*;

#[test]
fn a_memory_keeps_its_wording() {
    let world = World::default();
    let added =
        world.data("add", json!({"title": "Prefers tea", "body": "Green.", "tags": [" taste ", "Taste"]}));
    assert_eq!(timeless(added), json!({"id": "m_0001", "title": "Prefers tea", "tags": ["taste"]}));
    let got = timeless(world.data("get", json!({"id": "m_0001"})));
    assert_eq!(
        got,
        json!({"id": "m_0001", "title": "Prefers tea", "body": "Green.", "tags": ["taste"], "updated": "…"})
    );
    let short = world.data("add", json!({"title": "Only this"}));
    assert_eq!(timeless(short), json!({"id": "m_0002", "title": "Only this"}));
}

#[test]
fn replies_follow_the_requested_detail() {
    let world = World::with(&["Tea|Green, without sugar.|taste"]);
    let check = |action: &str, params: Value, expected: [&[&str]; 3]| {
        for (level, expected) in [Detail::Minimal, Detail::Standard, Detail::Full].into_iter().zip(expected) {
            let data = world.host().detail(level).call(&Memories, action, params.clone()).unwrap().data;
            let one = data.get(0).unwrap_or(&data);
            let keys: Vec<&str> = one.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, expected, "{action} {level:?}");
        }
    };
    let brief: &[&str] = &["id", "title"];
    check(
        "get",
        json!({"id": "m_0001"}),
        [
            brief,
            &["id", "title", "body", "tags", "updated"],
            &["id", "title", "body", "tags", "updated", "created"],
        ],
    );
    check(
        "list",
        json!({}),
        [
            brief,
            &["id", "title", "excerpt", "tags"],
            &["id", "title", "excerpt", "tags", "body", "created", "updated"],
        ],
    );
    check(
        "search",
        json!({"query": "tea"}),
        [
            brief,
            &["id", "title", "score", "excerpt", "tags"],
            &["id", "title", "score", "excerpt", "tags", "body", "created", "updated"],
        ],
    );
    check(
        "pin",
        json!({"id": "m_0001"}),
        [
            brief,
            &["id", "title", "tags", "pinned"],
            &["id", "title", "tags", "pinned", "body", "created", "updated"],
        ],
    );
}

#[test]
fn only_given_fields_change() {
    let world = World::with(&["Tea|Green.|taste"]);
    let check = |change: Value, expected: Value| {
        let mut params = change;
        params["id"] = json!("m_0001");
        world.data("update", params);
        let got = world.data("get", json!({"id": "m_0001"}));
        assert_eq!(json!([got["title"], got["body"], got["tags"]]), expected);
    };
    check(json!({"body": "Black."}), json!(["Tea", "Black.", ["taste"]]));
    check(json!({"title": "Coffee"}), json!(["Coffee", "Black.", ["taste"]]));
    check(json!({"tags": []}), json!(["Coffee", "Black.", null]));
    check(json!({"body": ""}), json!(["Coffee", null, null]));
}

#[test]
fn forgotten_memories_are_removed_everywhere() {
    let world = World::with(&["Tea", "Milk"]);
    world.data("link", json!({"id": "m_0001", "to": "m_0002"}));
    world.data("pin", json!({"id": "m_0001"}));
    assert_eq!(world.data("delete", json!({"id": "m_0001"}))["title"], "Tea");
    assert_eq!(
        world.failure("get", json!({"id": "m_0001"})),
        "not_found: not found: there is no memory `m_0001`"
    );
    assert_eq!(world.ids("list", json!({})), ["m_0002"]);
    assert_eq!(world.ids("search", json!({"query": "tea"})), [""; 0]);
    assert!(world.data("get", json!({"id": "m_0002"}))["links"].is_null());
    world.data("add", json!({"title": "Another"}));
    assert_eq!(world.ids("list", json!({})), ["m_0003", "m_0002"], "an id never comes again");
}

#[test]
fn forgetting_everything_leaves_an_empty_store() {
    let world = World::with(&["Tea|Green|taste", "Milk"]);
    world.data("pin", json!({"id": "m_0001"}));
    for id in ["m_0001", "m_0002"] {
        world.data("delete", json!({"id": id}));
    }
    let kept: Vec<String> = world
        .store
        .keys()
        .into_iter()
        .filter(|key| key.contains('/') && !key.starts_with("words#"))
        .collect();
    assert_eq!(kept, [""; 0]);
}

#[test]
fn pinned_memories_are_first() {
    let world = World::with(&["One", "Two", "Three", "Four"]);
    world.data("pin", json!({"id": "m_0001"}));
    world.data("pin", json!({"id": "m_0003"}));
    world.data("pin", json!({"id": "m_0003"}));
    assert_eq!(world.ids("list", json!({})), ["m_0003", "m_0001", "m_0004", "m_0002"]);
    assert_eq!(world.ids("list", json!({"pinned": true})), ["m_0003", "m_0001"]);
    assert!(world.data("pin", json!({"id": "m_0003", "pinned": false}))["pinned"].is_null());
    assert_eq!(world.ids("list", json!({})), ["m_0001", "m_0004", "m_0003", "m_0002"]);
}

#[test]
fn archived_memories_are_hidden_but_kept() {
    let world = World::with(&["Old tea", "New tea"]);
    assert_eq!(world.data("archive", json!({"id": "m_0001"}))["archived"], true);
    assert_eq!(world.ids("list", json!({})), ["m_0002"]);
    assert_eq!(world.ids("list", json!({"archived": true})), ["m_0001"]);
    assert_eq!(world.ids("search", json!({"query": "tea"})), ["m_0002"]);
    assert_eq!(world.ids("search", json!({"query": "tea", "archived": true})), ["m_0001"]);
    world.data("archive", json!({"id": "m_0001", "archived": false}));
    assert_eq!(world.ids("search", json!({"query": "old"})), ["m_0001"]);
}

#[test]
fn both_ends_of_a_link_know_of_it() {
    let world = World::with(&["Tea", "Milk"]);
    let links = |id: &str| world.data("get", json!({"id": id}))["links"].clone();
    world.data("link", json!({"id": "m_0001", "to": "m_0002", "relation": "goes with"}));
    assert_eq!(links("m_0001"), json!([{"id": "m_0002", "relation": "goes with"}]));
    assert_eq!(links("m_0002"), json!([{"id": "m_0001", "relation": "goes with", "inverse": true}]));
    world.data("link", json!({"id": "m_0001", "to": "m_0002", "relation": " goes  with "}));
    assert_eq!(links("m_0001"), json!([{"id": "m_0002", "relation": "goes with"}]), "each relation once");
    world.data("link", json!({"id": "m_0002", "to": "m_0001", "relation": "spoils"}));
    let both = json!([{"id": "m_0002", "relation": "goes with"}, {"id": "m_0002", "relation": "spoils", "inverse": true}]);
    assert_eq!(links("m_0001"), both);
    // A relation is removed in its direction, and without one all are.
    world.data("link", json!({"id": "m_0002", "to": "m_0001", "relation": "goes with", "linked": false}));
    assert_eq!(links("m_0001"), both);
    world.data("link", json!({"id": "m_0001", "to": "m_0002", "relation": "goes with", "linked": false}));
    assert_eq!(links("m_0002"), json!([{"id": "m_0001", "relation": "spoils"}]));
    world.data("link", json!({"id": "m_0001", "to": "m_0002"}));
    world.data("link", json!({"id": "m_0001", "to": "m_0002", "linked": false}));
    assert_eq!((links("m_0001"), links("m_0002")), (Value::Null, Value::Null));
}

#[test]
fn kinds_are_normalised_and_filtered_by() {
    let world = World::default();
    let added = world.data("add", json!({"title": "Ann", "kind": " Person "}));
    assert_eq!(timeless(added), json!({"id": "m_0001", "title": "Ann", "kind": "person"}));
    world.data("add", json!({"title": "Ann's tea", "kind": "Software_project"}));
    world.data("add", json!({"title": "Ann of old"}));
    assert_eq!(world.ids("list", json!({"kind": "PERSON"})), ["m_0001"]);
    assert_eq!(world.ids("list", json!({"kind": "software project"})), ["m_0002"]);
    assert_eq!(world.ids("search", json!({"query": "ann", "kind": "person"})), ["m_0001"]);
    assert_eq!(world.ids("search", json!({"query": "persons"})), ["m_0001"], "kinds are words, too");
    world.data("update", json!({"id": "m_0001", "kind": "friend"}));
    assert_eq!(world.ids("list", json!({"kind": "friend"})), ["m_0001"]);
    assert_eq!(world.ids("search", json!({"query": "persons"})), [""; 0]);
    world.data("update", json!({"id": "m_0001", "kind": ""}));
    assert!(world.data("get", json!({"id": "m_0001"}))["kind"].is_null());
    world.data("delete", json!({"id": "m_0002"}));
    assert_eq!(world.ids("search", json!({"query": "software"})), [""; 0]);
}

#[test]
fn observations_are_lines_of_the_body() {
    let world = World::with(&["Ann|Likes tea.\nLives in Graz."]);
    let update = |mut params: Value| {
        params["id"] = json!("m_0001");
        world.data("update", params);
        world.data("get", json!({"id": "m_0001"}))["body"].clone()
    };
    assert_eq!(update(json!({"append": "Plays jazz."})), "Likes tea.\nLives in Graz.\nPlays jazz.");
    assert_eq!(update(json!({"append": "Likes tea."})), "Likes tea.\nLives in Graz.\nPlays jazz.");
    assert_eq!(update(json!({"remove": "Lives in Graz."})), "Likes tea.\nPlays jazz.");
    assert_eq!(
        update(json!({"remove": "Likes tea.", "append": "Likes coffee."})),
        "Plays jazz.\nLikes coffee."
    );
    assert_eq!(world.ids("search", json!({"query": "coffee"})), ["m_0001"]);
    assert_eq!(world.ids("search", json!({"query": "graz"})), [""; 0]);
    let missing = json!({"id": "m_0001", "remove": "Likes tea."});
    assert_eq!(world.failure("update", missing), "not_found: not found: the body has no such line");
    let both = json!({"id": "m_0001", "body": "x", "append": "y"});
    assert!(world.failure("update", both).contains("`body` excludes `append` and `remove`"));
}
