//! Lists and searches.

use super::*;

#[test]
fn lexical_search_ranks_by_relevance() {
    let world = World::with(&[
        "Deploys on Mondays|Never on Fridays.|work",
        "The deployment failed|The disk was full; deploying again helped.|work",
        "Likes music|",
        "Lives in Prague|Moved there for work.|home",
    ]);
    let check = |mut params: Value, expected: &[&str]| {
        params["mode"] = json!("words");
        assert_eq!(world.ids("search", params.clone()), expected, "{params}");
    };
    check(json!({"query": "deploying"}), &["m_0002", "m_0001"]);
    check(json!({"query": "monday deploy"}), &["m_0001", "m_0002"]);
    check(json!({"query": "WORK"}), &["m_0001", "m_0004", "m_0002"]);
    check(json!({"query": "work", "tag": "Home"}), &["m_0004"]);
    check(json!({"query": "deploying", "limit": 1}), &["m_0002"]);
    check(json!({"query": "nothing of it"}), &[]);
    check(json!({"query": "?!"}), &[]);
}

#[test]
fn empty_results_are_explained() {
    let said = |world: &World, params: Value| world.reply("search", params).unwrap().message;
    let none = said(&World::default(), json!({"query": "tea"}));
    assert_eq!(none.as_deref(), Some("There are no memories yet: `add` one."));
    let world = World::with(&["Likes tea||taste"]);
    let check = |params: Value, expected: Option<&str>| {
        assert_eq!(said(&world, params.clone()).as_deref(), expected, "{params}");
    };
    check(json!({"query": "tea"}), None);
    check(json!({"query": "network"}), Some("No memory has these words or their meaning: try others."));
    let near = Some("No memory has these words: these are the nearest in meaning.");
    check(json!({"query": "coffee"}), near);
    let narrowed = Some(
        "Memories match, but none of those asked for: try without `tag` or `kind`, or the other `archived`.",
    );
    check(json!({"query": "tea", "tag": "home"}), narrowed);
    check(json!({"query": "tea", "archived": true}), narrowed);
}

#[test]
fn a_search_uses_the_current_text() {
    let world = World::with(&["Likes tea", "Likes milk"]);
    world.data("update", json!({"id": "m_0001", "title": "Likes coffee"}));
    let found = |query: &str| world.ids("search", json!({"query": query, "mode": "words"}));
    assert_eq!(found("tea"), [""; 0]);
    assert_eq!(found("coffee"), ["m_0001"]);
    assert_eq!(found("likes"), ["m_0002", "m_0001"]);
}

#[test]
fn an_excerpt_shows_why() {
    let body = format!("{} The needle is here. {}", "Hay and straw. ".repeat(40), "More hay. ".repeat(40));
    let world = World::with(&[&format!("Field|{body}")]);
    let found = world.data("search", json!({"query": "needles"}));
    let excerpt = found[0]["excerpt"].as_str().unwrap();
    assert!(excerpt.contains("The needle is here.") && excerpt.chars().count() <= 200, "{excerpt}");
    let listed = world.data("list", json!({}));
    assert!(listed[0]["excerpt"].as_str().unwrap().starts_with("Hay and straw."));
}

#[test]
fn filters_look_past_better_matches() {
    let titles: Vec<String> =
        (0..120).map(|n| format!("Tea {n}||{}", if n == 0 { "rare" } else { "" })).collect();
    let world = World::with(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(world.ids("search", json!({"query": "tea", "tag": "rare"})), ["m_0001"]);
    assert_eq!(world.ids("list", json!({"tag": "rare"})), ["m_0001"]);
}

#[test]
fn pages_hold_each_memory_once() {
    let titles: Vec<String> = (1..=25).map(|n| format!("Memory {n}")).collect();
    let world = World::with(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    world.data("pin", json!({"id": "m_0007"}));
    world.data("archive", json!({"id": "m_0009"}));
    let (mut seen, mut params) = (Vec::new(), json!({"limit": 10}));
    loop {
        let reply = world.reply("list", params.clone()).unwrap();
        seen.extend(ids(&reply.data));
        match reply.page.unwrap().cursor {
            Some(cursor) => params["cursor"] = json!(cursor),
            None => break,
        }
    }
    let rest = (1..=25).rev().filter(|n| ![7, 9].contains(n)).map(|n| format!("m_{n:04}"));
    let expected: Vec<String> = ["m_0007".to_owned()].into_iter().chain(rest).collect();
    assert_eq!(seen, expected);
}
