//! `embed`, and `search` by meaning.

use loggia_sdk::http::Response;

use super::*;

const URL: &str = "https://embed.example.com/v1/embeddings";

/// Letter frequencies of a text: similar texts have similar ones.
fn letters(text: &str) -> Vec<f64> {
    ('a'..='z').map(|letter| text.to_lowercase().matches(letter).count() as f64 + 0.01).collect()
}

impl World {
    /// A host whose endpoint answers this many requests.
    fn endpoint(&self, answers: usize) -> Host {
        let left = std::cell::Cell::new(answers);
        let answer = move |request: &loggia_sdk::http::Request| {
            if left.get() == 0 {
                return Ok(Response::new(503));
            }
            left.set(left.get() - 1);
            let asked: Value = serde_json::from_slice(&request.body).unwrap();
            let texts = asked["input"].as_array().unwrap().iter().enumerate();
            let data: Vec<_> = texts
                .map(|(index, text)| json!({"index": index, "embedding": letters(text.as_str().unwrap())}))
                .collect();
            Ok(Response::new(200).with_json(&json!({"data": data})))
        };
        self.host()
            .config("embeddings", json!({"url": URL, "model": "letters"}))
            .http("POST", URL, answer)
            .reads("POST")
    }
}

#[test]
fn passages_are_found_by_their_meaning() {
    let world = World::filled();
    let host = world.endpoint(100);
    let found = host.call(&Knowledge, "search", json!({"query": "bake"})).unwrap();
    assert_eq!(found.message.as_deref(), Some("6 of 6 passages have no vector yet: `embed` computes them."));
    assert_eq!(found.next.unwrap().action, "embed");
    let embedded = host.call(&Knowledge, "embed", json!({"id": "k_0002"})).unwrap();
    assert_eq!(embedded.data, json!({"embedded": 2, "left": 0}));
    let embedded = host.call(&Knowledge, "embed", json!({})).unwrap();
    assert_eq!((embedded.data, embedded.message), (json!({"embedded": 4, "left": 0}), None));
    assert_eq!(host.call(&Knowledge, "embed", json!({})).unwrap().data, json!({"embedded": 0, "left": 0}));

    let said = "Bread Bread Baking Baking Bake the bread for forty minutes at 220 degrees.";
    let query: String = said.chars().rev().filter(|char| !char.is_numeric()).collect();
    let search = |mode: &str| {
        let reply = host.call(&Knowledge, "search", json!({"query": query, "mode": mode})).unwrap();
        (places(&reply.data), reply.message)
    };
    let (meaning, message) = search("meaning");
    assert_eq!((meaning.len(), meaning[0].as_str(), message), (6, "k_0002/2", None));
    assert_eq!(search("words").0, Vec::<String>::new());
    assert_eq!(search("hybrid").0[0], "k_0002/2");
}

#[test]
fn vectors_go_with_their_passages() {
    let world = World::filled();
    let host = world.endpoint(100);
    let call = |action: &str, params: Value| host.call(&Knowledge, action, params).unwrap();
    call("embed", json!({}));
    call("chunk", json!({"id": "k_0001"}));
    assert_eq!(call("embed", json!({})).data["embedded"], 0, "cut as it was");
    call("chunk", json!({"id": "k_0001", "size": 1000}));
    assert_eq!(call("embed", json!({})).data["embedded"], 4);
    call("add", json!({"text": "New.", "replace": "k_0002"}));
    assert_eq!(call("embed", json!({})).data["embedded"], 1);
    call("delete", json!({"id": "k_0001"}));
    assert_eq!(places(&call("search", json!({"query": "vinegar", "mode": "meaning"})).data), ["k_0002/1"]);
    assert_eq!(world.store.keys().iter().filter(|key| key.starts_with("vectors#")).count(), 1);
}

#[test]
fn a_call_reports_how_many_vectors_are_left() {
    let world = World::new();
    world.data("add", json!({"text": "A sentence of some words. ".repeat(10_000), "title": "Long"}));
    let host = world.endpoint(usize::MAX).time_left(std::time::Duration::from_secs(1));
    let reply = host.call(&Knowledge, "embed", json!({"id": "k_0001"})).unwrap();
    assert_eq!(reply.data, json!({"embedded": 64, "left": 122}));
    assert_eq!(reply.message.as_deref(), Some("Passages left: 122. Call again."));
    assert_eq!(reply.next.unwrap().params["id"], "k_0001");
    let reply = world.endpoint(3).call(&Knowledge, "embed", json!({})).unwrap();
    assert_eq!(reply.data, json!({"embedded": 64, "left": 58}));
    assert!(reply.message.unwrap().starts_with("It ended early: "));
    let failure = world.endpoint(0).call(&Knowledge, "embed", json!({})).unwrap_err();
    assert_eq!(failure.code, "unavailable");
    let host = world.endpoint(usize::MAX);
    assert_eq!(host.call(&Knowledge, "embed", json!({})).unwrap().data["left"], 0);
    assert_eq!(host.progress()[0].1, Some(58.0));
    world.data("delete", json!({"id": "k_0001"}));
    assert_eq!(world.store.keys().iter().filter(|key| key.starts_with("vectors#")).count(), 0);
}

#[test]
fn a_failing_endpoint_leaves_lexical_search() {
    let world = World::filled();
    let call =
        |mode: &str| world.endpoint(0).call(&Knowledge, "search", json!({"query": "vinegar", "mode": mode}));
    let reply = call("hybrid").unwrap();
    assert_eq!(places(&reply.data), ["k_0001/4"]);
    assert!(reply.message.unwrap().starts_with("Found by words only: "));
    assert_eq!(call("meaning").unwrap_err().code, "unavailable");
    assert_eq!(call("words").unwrap().message, None);
}

#[test]
fn the_built_in_model_finds_related_passages() {
    let world = World::filled();
    let reply = world.reply("search", json!({"query": "oven loaf"})).unwrap();
    let message = "No passage has these words: these are the nearest in meaning.";
    assert_eq!((places(&reply.data)[0].as_str(), reply.message.as_deref()), ("k_0002/2", Some(message)));
    assert_eq!(world.data("embed", json!({})), json!({"embedded": 0, "left": 0}));
    world.data("add", json!({"text": "The car has winter tyres.", "replace": "k_0002"}));
    assert_eq!(places(&world.data("search", json!({"query": "automobile"}))), ["k_0002/1"]);
    assert_eq!(places(&world.data("search", json!({"query": "washing with acid"})))[0], "k_0001/4");
}
