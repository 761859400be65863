//! The facade as its callers meet it.

mod errors;
mod hybrid;
mod reading;
mod semantic;
mod workflow;

use loggia_sdk::{
    prelude::*,
    testing::{self, Host},
};

use crate::Search;

/// A host with all four sources, each of which finds something.
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
                {"id": "k_0001", "title": "Sicily", "source": "https://example.com/sicily", "heading": "Nature > Volcanoes",
                 "chunk": 3, "of": 9, "lines": [20, 24], "text": "The Etna is the highest volcano of Europe.", "score": 0.8},
            ])))
        })
        .answer("conversations", "search", |_| {
            Ok(Reply::new(json!([
                {"conversation": "c_0004", "title": "A trip", "position": 12, "role": "user", "text": "How do we get to the Etna?", "score": 2.5},
            ])))
        })
        .answer("files", "search", |_| {
            Ok(Reply::new(json!([
                {"path": "/notes/bread.md", "line": 1, "text": "An oven as hot as a volcano."},
                {"path": "/notes/trip.md", "line": 9, "text": "- The Etna is the highest volcano of Europe"},
            ])))
        })
}

/// `memories m_0007`, …
fn names(data: &Value) -> Vec<String> {
    let name = |hit: &Value| format!("{} {}", hit["source"].as_str().unwrap(), hit["id"].as_str().unwrap());
    data.as_array().unwrap().iter().map(name).collect()
}

/// A reply as its caller reads it.
fn shown(reply: &Reply<Value>) -> String {
    let mut text = format!("{:#}", reply.data);
    if let Some(message) = &reply.message {
        text.push_str(&format!("\n+ {message}"));
    }
    if let Some(next) = &reply.next {
        let facade = next.facade.as_deref().unwrap_or("search");
        text.push_str(&format!("\n> {facade} {} {}", next.action, Value::Object(next.params.clone())));
    }
    text
}

/// Renders a failure.
fn told(failure: &Failure) -> String {
    let hint = failure.hint.as_ref().map(|hint| format!("\n    {hint}")).unwrap_or_default();
    format!("{failure}{hint}")
}

#[test]
fn the_host_accepts_the_facade() {
    insta::assert_snapshot!(testing::outline(&Search));
}
