//! The facade as its callers meet it.

use loggia_sdk::{
    prelude::*,
    testing::{self, Host, Store},
};

use crate::{Support, ticket::OPEN};

fn call(store: &Store, action: &str, params: Value) -> Result<Reply<Value>> {
    Host::new().store(store).call(&Support, action, params)
}

/// The data of a call that works.
fn data(store: &Store, action: &str, params: Value) -> Value {
    call(store, action, params).unwrap().data
}

/// Renders a result without times.
fn shown(result: Result<Reply<Value>>) -> String {
    match result {
        Ok(reply) => {
            let message = reply.message.map(|message| format!("\n    {message}")).unwrap_or_default();
            format!("{}{message}", timeless(reply.data))
        }
        Err(failure) => {
            let hint = failure.hint.as_ref().map(|hint| format!("\n    {hint}")).unwrap_or_default();
            let next =
                failure.next.as_ref().map(|next| format!("\n    > {}", next.action)).unwrap_or_default();
            format!("{failure}{hint}{next}")
        }
    }
}

fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => members.iter_mut().for_each(|(name, member)| {
            let is_time = matches!(name.as_str(), "created" | "closed");
            *member = if is_time { json!("(time)") } else { timeless(member.take()) };
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

fn ids(reply: &Reply<Value>) -> Vec<&str> {
    reply.data.as_array().into_iter().flatten().filter_map(|ticket| ticket["id"].as_str()).collect()
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Support));
}

#[test]
fn a_ticket_is_opened_and_closed() {
    let store = Store::new();
    let steps = [
        ("request_handoff", json!({"reason": "acc_001 is locked."})),
        ("request_handoff", json!({"reason": "Lost card.", "channel": "call"})),
        ("get", json!({"id": "s_0002"})),
        ("close", json!({"id": "s_0001", "resolution": "Unlocked."})),
        ("get", json!({"id": "s_0001"})),
        ("get", json!({"id": "s_0002"})),
        ("list", json!({})),
        ("list", json!({"closed": true})),
    ];
    let lines = steps.map(|(action, params)| {
        format!("{action} {params}\n  {}", shown(call(&store, action, params.clone())))
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_same_reason_is_one_ticket() {
    let store = Store::new();
    let request = || call(&store, "request_handoff", json!({"reason": " acc_001 is locked. "})).unwrap();
    let (first, second) = (request(), request());
    assert_eq!(first.data, second.data);
    assert_eq!(
        second.message.unwrap(),
        "An agent will answer in the chat: ticket s_0001, place 1 in the queue. It was requested before."
    );
    data(&store, "close", json!({"id": "s_0001", "resolution": "Done."}));
    assert_eq!(request().data["id"], "s_0002", "a closed ticket is not reopened");
}

#[test]
fn wrong_calls_are_explained() {
    let store = Store::new();
    data(&store, "request_handoff", json!({"reason": "r"}));
    data(&store, "close", json!({"id": "s_0001", "resolution": "Done."}));
    let calls = [
        ("request_handoff", json!({"reason": "  "})),
        ("get", json!({"id": "s_0009"})),
        ("close", json!({"id": "s_0009", "resolution": "x"})),
        ("close", json!({"id": "s_0001", "resolution": "x"})),
        ("list", json!({"cursor": "x"})),
        ("list", json!({"cursor": "x", "closed": true})),
    ];
    let lines = calls.map(|(action, params)| {
        format!("{action} {params}\n  {}", shown(call(&store, action, params.clone())))
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_queue_is_bounded() {
    let store = Store::new();
    for number in 0..OPEN {
        data(&store, "request_handoff", json!({"reason": format!("reason {number}")}));
    }
    insta::assert_snapshot!(shown(call(&store, "request_handoff", json!({"reason": "one more"}))), @r"
    unavailable: 200 tickets are open, and no more are accepted
        Tell the person to try again later. An agent closes tickets with `close`.
    ");
    data(&store, "close", json!({"id": "s_0003", "resolution": "Done."}));
    assert_eq!(data(&store, "request_handoff", json!({"reason": "one more"}))["position"], OPEN);
}

#[test]
fn pages_follow_the_queue() {
    let store = Store::new();
    for number in 1..=12 {
        data(&store, "request_handoff", json!({"reason": format!("reason {number}")}));
    }
    let first = call(&store, "list", json!({"limit": 5})).unwrap();
    assert_eq!(ids(&first), ["s_0001", "s_0002", "s_0003", "s_0004", "s_0005"]);
    // The ticket of the cursor is closed between two pages.
    let cursor = first.page.as_ref().and_then(|page| page.cursor.clone()).unwrap();
    data(&store, "close", json!({"id": cursor, "resolution": "Done."}));
    let second = call(&store, "list", json!({"limit": 10, "cursor": cursor})).unwrap();
    assert_eq!(ids(&second), ["s_0006", "s_0007", "s_0008", "s_0009", "s_0010", "s_0011", "s_0012"]);
    assert_eq!(second.page.unwrap().cursor, None);
}

#[test]
fn conflicts_only_cost_a_retry() {
    let store = Store::new();
    store.conflicts(3);
    data(&store, "request_handoff", json!({"reason": "r"}));
    store.conflicts(3);
    data(&store, "close", json!({"id": "s_0001", "resolution": "Done."}));
    assert_eq!(store.keys().iter().filter(|key| key.starts_with("tickets/s_")).count(), 1);
}
