//! `list`, `search` and `get`.

use std::collections::BTreeSet;

use super::*;

#[test]
fn facades_and_actions_are_listed_in_pages() {
    insta::assert_snapshot!(transcript(&[
        ("list", json!({})),
        ("list", json!({"facade": "Memories"})),
        ("list", json!({"facade": "memories", "limit": 2})),
        ("list", json!({"facade": "memories", "limit": 2, "cursor": "2"})),
        ("list", json!({"cursor": "x"})),
    ]));
}

#[test]
fn words_of_names_texts_and_parameters_match() {
    for (query, facade, expected) in [
        ("delete a memory", None, &["memories.delete", "memories.add", "memories.get"][..]),
        ("moving files", None, &["files.moveFile"]),
        ("path", None, &["files.moveFile"]),
        ("new path", Some("memories"), &[]),
        ("what is it about", None, &["memories.add"]),
        ("remember", None, &["memories.add"]),
        ("nothing", None, &[]),
    ] {
        let reply = world().call(&Tools, "search", json!({"query": query, "facade": facade})).unwrap();
        let found = reply.data.as_array().unwrap().iter().map(|found| found["call"].as_str().unwrap());
        let found: Vec<&str> = found.collect();
        assert_eq!(found.is_empty(), expected.is_empty(), "{query}: {found:?}");
        assert!(found.starts_with(&expected[..expected.len().min(1)]), "{query}: {found:?}");
        assert!(expected.iter().all(|call| found.contains(call)), "{query}: {found:?}");
        assert_eq!(reply.message.is_some(), expected.is_empty(), "{query}");
    }
    let first = transcript(&[("search", json!({"query": "delete", "limit": 1}))]);
    insta::assert_snapshot!(first);
}

/// A facade as large as an imported API, beside the small ones.
fn large_world() -> Host {
    let long = "text ".repeat(200);
    let mut peer = Peer::new("shop", "Shop", "A web shop.");
    for number in 0..1200 {
        let summary = format!("Return the {} of order {number}. {long}", ["price", "sender"][number % 2]);
        peer = peer.action(format!("orders/get-{number}"), summary, Effect::Read);
    }
    let id = json!({"type": "object", "properties": {"secretword": {"type": "string"}}});
    let signature = format!("orders/get-7({})", "parameter: string, ".repeat(100));
    let schema = Schema::new(id).effect(Effect::Read).signature(signature);
    world().peer(peer).schema("shop", "orders/get-7", schema)
}

#[test]
fn a_large_facade_is_listed_in_pages() {
    let (mut seen, mut cursor) = (BTreeSet::new(), Value::Null);
    loop {
        let params = json!({"facade": "shop", "limit": 200, "cursor": cursor});
        let reply = large_world().call(&Tools, "list", params).unwrap();
        assert!(reply.data.to_string().len() < 60_000, "{}", reply.data.to_string().len());
        seen.extend(reply.data.as_array().unwrap().iter().map(|action| action["call"].to_string()));
        let page = reply.page.unwrap();
        assert_eq!((reply.message.is_some(), page.total), (page.cursor.is_some(), Some(1200)));
        match page.cursor {
            Some(next) => cursor = next.into(),
            None => break,
        }
    }
    assert_eq!(seen.len(), 1200);
}

#[test]
fn actions_of_a_large_facade_are_found() {
    for (query, facade, expected) in [
        ("sender of order 7", None, Some("shop.orders/get-7")),
        ("price of order 844", Some("shop"), Some("shop.orders/get-844")),
        ("delete a memory", None, Some("memories.delete")),
        // Only of small facades.
        ("secretword", None, None),
        ("tags", None, Some("memories.add")),
    ] {
        let params = json!({"query": query, "facade": facade, "limit": 50});
        let reply = large_world().call(&Tools, "search", params).unwrap();
        assert_eq!(reply.data[0]["call"].as_str(), expected, "{query}");
        assert!(reply.data.to_string().len() < 20_000, "{query}: {}", reply.data.to_string().len());
    }
    let got = large_world().call(&Tools, "get", json!({"call": "shop.orders/get-7"})).unwrap();
    assert!(got.data["summary"].as_str().is_some_and(|summary| summary.len() > 900), "{}", got.data);
    let missing = large_world().call(&Tools, "get", json!({"call": "shop.orders/get-9999"})).unwrap_err();
    assert!(missing.hint.as_deref().is_some_and(|hint| hint.len() < 1000), "{missing:?}");
}

#[test]
fn an_action_is_shown_at_each_detail() {
    let shown = [Detail::Minimal, Detail::Standard, Detail::Full].map(|detail| {
        let host = world().detail(detail);
        show_reply(&host.call(&Tools, "get", json!({"call": "memories.remember"})).unwrap())
    });
    insta::assert_snapshot!(shown.join("\n\n"));
    insta::assert_snapshot!(
        "others",
        transcript(&[("get", json!({"call": "memories.add"})), ("get", json!({"call": "memories/delete"})),])
    );
}

#[test]
fn nothing_granted_means_nothing_listed() {
    for (action, params) in [("list", json!({})), ("search", json!({"query": "x"}))] {
        let failure = testing::call(&Tools, action, params).unwrap_err();
        assert_eq!(failure.code, "denied", "{action}");
    }
}
