//! `export`.

use super::*;

fn exported(world: &World, params: Value) -> (Reply<Value>, String) {
    let mut reply = world.reply("export", params).unwrap();
    let Some(Block::Embedded { text: Some(text), uri, mime_type, .. }) =
        reply.content.pop().map(|content| content.block)
    else {
        panic!("there is no resource");
    };
    assert_eq!((json!(uri), json!(mime_type)), (reply.data["uri"].clone(), reply.data["mime"].clone()));
    (reply, text)
}

const AWKWARD: [&str; 5] = [
    "# A heading\n\n## 2. assistant, 2026-01-01T00:00:00Z\n\n> quoted",
    "```rust\nfn open() {}\n",
    "a\r\nb\r## 9. user\n\n",
    "<!-- not closed",
    "\"quotes\" \\ \t \u{1} é",
];

#[test]
fn markdown_separates_messages_of_any_content() {
    let world = World::with(&[&AWKWARD]);
    let (reply, text) = exported(&world, json!({"conversation": "c_0001"}));
    let heads: Vec<_> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(heads.len(), AWKWARD.len());
    for line in text.split(['\n', '\r']) {
        assert!(
            line.is_empty() || ["#", ">", "Conversation"].iter().any(|start| line.starts_with(start)),
            "{line:?}"
        );
    }
    insta::assert_snapshot!(format!("{}\n\n{}", shown(&reply), timeless(&text)));
}

#[test]
fn exported_json_can_be_appended() {
    let world = World::with(&[&AWKWARD]);
    world.data("append", json!({"conversation": "c_0001", "role": "tool", "text": "x", "name": "maps"}));
    let (_, text) = exported(&world, json!({"conversation": "c_0001", "format": "json"}));
    let document: Value = loggia_sdk::serde_json::from_str(&text).unwrap();
    assert_eq!(document["title"], "# A heading ## 2. assistant, 2026-01-01T00:00:00Z > quoted");
    world.data("append", json!({"title": document["title"], "messages": document["messages"]}));
    let messages =
        |id: &str| world.at(Detail::Full, "get", json!({"conversation": id})).data["messages"].clone();
    let without_time = |mut messages: Value| {
        messages.as_array_mut().unwrap().iter_mut().for_each(|message| message["at"] = "".into());
        messages
    };
    assert_eq!(without_time(messages("c_0001")), without_time(messages("c_0002")));
}

#[test]
fn a_long_conversation_is_paged() {
    let world = World::new();
    // Half of it is escaped in JSON.
    let text = "\"a".repeat(20_000);
    world.data("append", json!({"messages": vec![json!({"role": "user", "text": text}); 8]}));
    let again = json!({"conversation": "c_0001", "messages": vec![json!({"role": "user", "text": text}); 8]});
    world.data("append", again);
    for format in ["markdown", "json"] {
        let mut params = json!({"conversation": "c_0001", "format": format});
        let mut messages = 0;
        let mut uris = Vec::new();
        loop {
            let (reply, text) = exported(&world, params.clone());
            assert!(text.len() < 700_000, "{}", text.len());
            if format == "json" {
                let part: Value = loggia_sdk::serde_json::from_str(&text).unwrap();
                messages += part["messages"].as_array().unwrap().len();
            } else {
                messages += text.matches("\n## ").count();
            }
            uris.push(reply.data["uri"].as_str().unwrap().to_owned());
            match reply.page.and_then(|page| page.cursor) {
                Some(cursor) => params["cursor"] = cursor.into(),
                None => break,
            }
        }
        assert_eq!(messages, 16);
        assert!(uris.len() > 1);
        uris.dedup();
        assert!(uris.len() > 1, "each part has a name of its own: {uris:?}");
    }
}

#[test]
fn the_text_may_be_wanted_in_the_data() {
    let world = World::with(&[&["Where?", "There."]]);
    let reply = world.at(Detail::Full, "export", json!({"conversation": "c_0001", "format": "json"}));
    assert!(reply.content.is_empty());
    assert!(reply.data["text"].as_str().unwrap().contains("\"text\": \"There.\""));
    let reply = world.at(Detail::Minimal, "export", json!({"conversation": "c_0001"}));
    assert_eq!((reply.data, reply.content.len()), (json!({"conversation": "c_0001", "title": "Where?"}), 1));
}
