//! `search`.

use super::*;

fn places(found: &Value) -> Vec<String> {
    let place = |hit: &Value| format!("{}/{}", hit["conversation"].as_str().unwrap(), hit["position"]);
    found.as_array().unwrap().iter().map(place).collect()
}

fn world() -> World {
    World::with(&[
        &["Where is the volcano Etna?", "On Sicily, an island of Italy. It is a volcano."],
        &["Which islands belong to Italy?", "Sicily and Sardinia are the largest."],
        &["How do I bake bread?", "With flour, water, salt and yeast."],
    ])
}

#[test]
fn messages_are_found_by_their_words_best_first() {
    let world = world();
    let found = |query: &str| places(&world.data("search", json!({"query": query})));
    assert_eq!(found("volcanoes"), ["c_0001/1", "c_0001/2"]);
    assert_eq!(found("volcano sicily"), ["c_0001/2", "c_0001/1", "c_0002/2"]);
    assert_eq!(found("BAKING"), ["c_0003/1"]);
    assert!(found("quantum").is_empty());
    assert!(found("?!").is_empty());
}

#[test]
fn a_search_is_narrowed() {
    let world = world();
    world.data("archive", json!({"conversation": "c_0002"}));
    let found = |mut params: Value| {
        params["query"] = "sicily italy islands".into();
        let mut places = places(&world.data("search", params));
        places.sort_unstable();
        places
    };
    assert_eq!(found(json!({})), ["c_0001/2", "c_0002/1", "c_0002/2"]);
    assert_eq!(found(json!({"conversation": "c_0002"})), ["c_0002/1", "c_0002/2"]);
    assert_eq!(found(json!({"role": "assistant"})), ["c_0001/2", "c_0002/2"]);
    assert_eq!(found(json!({"role": "assistant", "archived": true})), ["c_0002/2"]);
    assert_eq!(found(json!({"archived": false})), ["c_0001/2"]);
    assert_eq!(found(json!({"limit": 1})).len(), 1);
}

#[test]
fn a_narrowed_search_looks_beyond_the_best() {
    let world = World::new();
    let many: Vec<_> = (0..100).map(|_| json!({"role": "user", "text": "needle"})).collect();
    for _ in 0..4 {
        world.data("append", json!({"messages": many}));
    }
    world.data("append", json!({"role": "tool", "text": "a needle in a haystack, hard to find"}));
    let found = |params| places(&world.data("search", params));
    assert_eq!(found(json!({"query": "needle", "role": "tool"})), ["c_0005/1"]);
    assert_eq!(found(json!({"query": "needle", "conversation": "c_0003", "limit": 50})).len(), 50);
    assert_eq!(found(json!({"query": "needle", "conversation": "c_0005", "role": "user"})), [""; 0]);
}

#[test]
fn results_follow_the_requested_detail() {
    let world = World::new();
    let text = ["Much is said before.", &"More is said. ".repeat(40), "Then the volcano."].join(" ");
    world.data(
        "append",
        json!({"messages": [{"role": "user", "text": text, "name": "Ann"}], "title": "Etna"}),
    );
    let levels = [Detail::Minimal, Detail::Standard, Detail::Full];
    let found: Vec<_> =
        levels.map(|level| shown(&world.at(level, "search", json!({"query": "volcano"})))).into();
    insta::assert_snapshot!(found.join("\n\n"));
}

#[test]
fn empty_results_are_explained() {
    let world = world();
    let said = |params| world.reply("search", params).unwrap().message.unwrap();
    assert_eq!(said(json!({"query": "quantum"})), "No message contains any of these words.");
    assert_eq!(
        said(json!({"query": "bread", "role": "tool"})),
        "Messages contain these words, but none that the filters select."
    );
}
