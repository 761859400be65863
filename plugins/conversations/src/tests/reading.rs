//! `get`.

use super::*;

fn numbered(count: usize) -> World {
    let texts: Vec<String> = (1..=count).map(|number| format!("message {number}")).collect();
    let world = World::new();
    for part in texts.chunks(100) {
        let said: Vec<_> = part.iter().map(|text| json!({"role": "user", "text": text})).collect();
        let mut params = json!({"messages": said});
        if !world.store.keys().is_empty() {
            params["conversation"] = "c_0001".into();
        }
        world.data("append", params);
    }
    world
}

fn range(from: usize, to: usize) -> Vec<String> {
    (from..=to).map(|number| format!("message {number}")).collect()
}

#[test]
fn the_newest_page_comes_first() {
    let world = numbered(250);
    let (texts, cursor) = world.texts(json!({"conversation": "c_0001", "limit": 100}));
    assert_eq!((texts, cursor.as_deref()), (range(151, 250), Some("<151")));
    let (texts, cursor) = world.texts(json!({"conversation": "c_0001", "limit": 100, "cursor": "<151"}));
    assert_eq!((texts, cursor.as_deref()), (range(51, 150), Some("<51")));
    let (texts, cursor) = world.texts(json!({"conversation": "c_0001", "limit": 100, "cursor": "<51"}));
    assert_eq!((texts, cursor), (range(1, 50), None));
}

#[test]
fn paging_from_a_position_reaches_the_end() {
    let world = numbered(250);
    let (texts, cursor) = world.texts(json!({"conversation": "c_0001", "from": 101, "limit": 100}));
    assert_eq!((texts, cursor.as_deref()), (range(101, 200), Some(">201")));
    let (texts, cursor) = world.texts(json!({"conversation": "c_0001", "cursor": ">201", "limit": 100}));
    assert_eq!((texts, cursor), (range(201, 250), None));
    assert_eq!(world.texts(json!({"conversation": "c_0001", "from": 250})).0, range(250, 250));
}

#[test]
fn a_page_is_as_detailed_as_wanted() {
    let world = World::new();
    let said = json!([
        {"role": "user", "text": "Where is the Etna?", "name": "Ann"},
        {"role": "assistant", "text": "é".repeat(1001)},
    ]);
    world.data("append", json!({"messages": said}));
    world.data("archive", json!({"conversation": "c_0001"}));
    let levels = [Detail::Minimal, Detail::Standard, Detail::Full];
    let pages: Vec<_> =
        levels.map(|level| shown(&world.at(level, "get", json!({"conversation": "c_0001"})))).into();
    insta::assert_snapshot!(pages.join("\n\n").replace(&"é".repeat(1000), "é×1000 "));
}

#[test]
fn a_page_of_long_messages_ends_early() {
    let world = World::new();
    for letter in ["a", "b", "c", "d", "e"] {
        let text = letter.repeat(50_000).replace('a', "é");
        let said = vec![json!({"role": "user", "text": text}); 5];
        let mut params = json!({"messages": said});
        if letter != "a" {
            params["conversation"] = "c_0001".into();
        }
        world.data("append", params);
    }
    let all = |mut params: Value| {
        let mut positions = Vec::new();
        let mut pages = 0;
        loop {
            let reply = world.at(Detail::Full, "get", params.clone());
            assert!(reply.data.to_string().len() < 900_000);
            let messages = reply.data["messages"].as_array().unwrap();
            positions.extend(messages.iter().map(|message| message["position"].as_u64().unwrap()));
            pages += 1;
            match reply.page.and_then(|page| page.cursor) {
                Some(cursor) => params["cursor"] = cursor.into(),
                None => break,
            }
        }
        positions.sort_unstable();
        assert_eq!(positions, (1..=25).collect::<Vec<_>>());
        pages
    };
    assert!(all(json!({"conversation": "c_0001", "from": 1, "limit": 200})) > 2);
    assert!(all(json!({"conversation": "c_0001", "limit": 200})) > 2);
    assert_eq!(
        world.data("get", json!({"conversation": "c_0001", "limit": 200}))["messages"]
            .as_array()
            .unwrap()
            .len(),
        25
    );
}

#[test]
fn text_with_many_json_escapes_fits_a_reply() {
    let world = World::new();
    let text = ["word ", &"\u{1b}".repeat(49_000)].concat();
    let said: Vec<Value> = (0..5).map(|_| json!({"role": "user", "text": text})).collect();
    world.data("append", json!({"messages": said}));
    for (action, params) in [
        ("get", json!({"conversation": "c_0001", "limit": 200})),
        ("search", json!({"query": "word", "limit": 50})),
    ] {
        let reply = world.at(Detail::Full, action, params);
        assert!(reply.data.to_string().len() < 1 << 20, "{action}");
    }
}

#[test]
fn plurals_and_missing_titles_are_rendered() {
    let world = World::with(&[&["\u{1}"]]);
    assert_eq!(world.data("get", json!({"conversation": "c_0001"}))["title"], "(untitled)");
    assert!(
        world
            .failure("get", json!({"conversation": "c_0001", "from": 2}))
            .contains("the conversation has 1 message")
    );
}
