//! `list`, `search` and `get`.

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
