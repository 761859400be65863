//! The facade as its callers meet it.

mod budget;
mod estimates;
mod profile;
mod sources;
mod suggesting;

use loggia_sdk::{
    prelude::*,
    testing::{self, Host, Store},
};

use crate::Context;

/// A host with all four sources, each of which finds something. Two find the same text.
fn world() -> Host {
    Host::new()
        .answer("memories", "search", |_| {
            Ok(Reply::new(json!([
                {"id": "m_0007", "title": "Wants to see the Etna", "excerpt": "Said so in May: a volcano, and not from afar.", "score": 1.0},
                {"id": "m_0002", "title": "Prefers trains", "excerpt": "To Sicily by train and ferry.", "score": 0.4},
            ])))
        })
        .answer("knowledge", "search", |_| {
            Ok(Reply::new(json!([
                {"id": "k_0001", "title": "Sicily", "heading": "Nature > Volcanoes", "chunk": 3, "of": 9,
                 "text": "The Etna is the highest volcano of Europe.", "score": 0.8},
                {"id": "k_0002", "title": "Trips", "chunk": 1, "of": 1, "text": "To Sicily by train and ferry!", "score": 0.5},
            ])))
        })
        .answer("conversations", "search", |_| {
            Ok(Reply::new(json!([
                {"conversation": "c_0004", "title": "A trip", "position": 12, "role": "user", "text": "How do we get to the Etna?", "score": 2.5},
            ])))
        })
        .answer("projects", "list", |params| {
            Ok(Reply::new(match params["kind"].as_str() {
                Some("epic") => json!([{"id": "e_0001", "title": "Trip to Sicily", "state": "in_progress", "tasks": "1/3"}]),
                Some("task") => json!([
                    {"id": "t_0001", "title": "Book the ferry to Sicily", "state": "todo", "parent": "f_0001"},
                    {"id": "t_0002", "title": "Repair the login to the shop", "state": "todo", "parent": "f_0002"},
                ]),
                _ => json!([]),
            }))
        })
}

fn trip(budget: usize) -> Value {
    json!({"task": "Plan the trip to Sicily by train, to see the volcano Etna", "budget": budget})
}

fn suggest(host: &Host, params: Value) -> Reply<Value> {
    host.call(&Context, "context", params).unwrap()
}

/// Ids of the suggestions.
fn ids(data: &Value) -> Vec<&str> {
    data["suggested_context"].as_array().unwrap().iter().filter_map(|item| item["id"].as_str()).collect()
}

/// A reply as its caller reads it.
fn shown(reply: &Reply<Value>) -> String {
    let message = reply.message.as_ref().map(|message| format!("\n+ {message}")).unwrap_or_default();
    format!("{:#}{message}", reply.data)
}

/// Renders a failure with its hint.
fn explained(failure: &Failure) -> String {
    let hint = failure.hint.as_ref().map(|hint| format!("\n    {hint}")).unwrap_or_default();
    format!("{failure}{hint}")
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Context));
}
