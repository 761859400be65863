//! Failing calls and their error messages.

use super::*;

#[test]
fn an_unknown_action_lists_the_available_ones() {
    assert_eq!(
        World::new().failure("delete", json!({})),
        "invalid_params: Unknown action: \"delete\". \
         Available actions: append, list, get, search, archive, export, describe."
    );
}

#[test]
fn each_action_reports_missing_and_invalid_parameters() {
    let world = World::with(&[&["one", "two"]]);
    let cases = [
        ("append", json!({})),
        ("append", json!({"text": "x"})),
        ("append", json!({"role": "user"})),
        ("append", json!({"role": "user", "text": ""})),
        ("append", json!({"role": "robot", "text": "x"})),
        ("append", json!({"messages": []})),
        ("append", json!({"messages": [{"role": "user"}]})),
        ("append", json!({"messages": [{"role": "user", "text": "x"}], "text": "x"})),
        ("append", json!({"messages": [{"role": "user", "text": "x"}], "name": "x"})),
        ("append", json!({"role": "user", "text": "x", "title": ""})),
        ("append", json!({"conversation": "c_0007", "role": "user", "text": "x"})),
        ("list", json!({"limit": 0})),
        ("list", json!({"cursor": "x"})),
        ("get", json!({})),
        ("get", json!({"conversation": "c_0007"})),
        ("get", json!({"conversation": "c_0001", "from": 0})),
        ("get", json!({"conversation": "c_0001", "from": 3})),
        ("get", json!({"conversation": "c_0001", "cursor": "x"})),
        ("get", json!({"conversation": "c_0001", "cursor": ">3"})),
        ("search", json!({})),
        ("search", json!({"query": "x", "limit": 51})),
        ("search", json!({"query": "x", "conversation": "c_0007"})),
        ("search", json!({"query": "x", "role": "robot"})),
        ("archive", json!({})),
        ("archive", json!({"conversation": "c_0007"})),
        ("export", json!({"conversation": "c_0007"})),
        ("export", json!({"conversation": "c_0001", "format": "html"})),
        ("export", json!({"conversation": "c_0001", "cursor": "3"})),
    ];
    let line = |(action, params): (&str, Value)| {
        let failure = world.reply(action, params.clone()).unwrap_err();
        let hint = failure.hint.as_ref().map(|hint| format!("\n    {hint}")).unwrap_or_default();
        format!("{action} {params}\n    {failure}{hint}")
    };
    let lines: Vec<_> = cases.into_iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_missing_grant_is_reported() {
    let failure = testing::call(&Conversations, "list", json!({})).unwrap_err();
    assert_eq!(failure.code, "denied");
    let failure = testing::call(&Conversations, "append", json!({"role": "user", "text": "x"})).unwrap_err();
    assert_eq!(failure.code, "denied");
}

#[test]
fn a_full_store_rejects_appends_atomically() {
    let store = Store::new().quota(20_000);
    let host = Host::new().store(&store);
    let append = |text: &str| host.call(&Conversations, "append", json!({"role": "user", "text": text}));
    append("one").unwrap();
    let before = store.keys();
    append(&"two ".repeat(10_000)).unwrap_err();
    assert_eq!(store.keys(), before);
    append("three").unwrap();
}
