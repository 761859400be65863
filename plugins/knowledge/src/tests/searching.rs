//! `search` by words.

use super::*;

#[test]
fn passages_are_found_with_source_and_place() {
    let world = World::filled();
    let query = json!({"query": "brewing coffee, pressing a button"});
    let mut shown = Vec::new();
    for detail in [Detail::Minimal, Detail::Standard, Detail::Full] {
        shown.push(lines(&world.detailed(detail, "search", query.clone())));
    }
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn titles_and_headings_count_for_passages() {
    let world = World::filled();
    let check = |mut params: Value, expected: &[&str]| {
        params["mode"] = json!("words");
        assert_eq!(places(&world.data("search", params.clone())), expected, "{params}");
    };
    check(json!({"query": "cleaning"}), &["k_0001/4"]);
    check(json!({"query": "bread yeast"}), &["k_0002/1", "k_0002/2"]);
    check(json!({"query": "water", "tag": "coffee"}), &["k_0001/2"]);
    check(json!({"query": "water", "tag": "kitchen", "limit": 1}), &["k_0002/1"]);
    check(json!({"query": "water", "id": "k_0002"}), &["k_0002/1"]);
    check(json!({"query": "water", "id": "k_0002", "tag": "coffee"}), &[]);
    check(json!({"query": "guide"}), &["k_0001/1", "k_0001/4", "k_0001/2", "k_0001/3"]);
}

#[test]
fn searches_without_results_are_explained() {
    let message = |world: &World| world.reply("search", json!({"query": "zebra"})).unwrap().message;
    assert_eq!(message(&World::new()).as_deref(), Some("There are no documents yet: `add` one."));
    assert_eq!(message(&World::filled()).as_deref(), Some("No passage contains these words: try others."));
    assert_eq!(World::filled().reply("search", json!({"query": "water"})).unwrap().message, None);
}
