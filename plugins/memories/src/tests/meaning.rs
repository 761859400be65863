//! Meaning, by an endpoint that knows three subjects, and by the built-in model.

use loggia_sdk::http::{self, Response};

use super::*;

const URL: &str = "https://embed.example.com/v1/embeddings";

/// Each text's direction: drink, music, travel. Words that no stemmer brings together.
fn subjects(text: &str) -> [f32; 3] {
    let has =
        |words: &[&str]| words.iter().filter(|word| text.to_lowercase().contains(**word)).count() as f32;
    [has(&["tea", "beverage", "thirst"]), has(&["jazz", "tune"]), has(&["train", "journey"]) + 0.01]
}

fn answer(request: &http::Request) -> Result<Response> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let inputs = body["input"].as_array().unwrap().iter().enumerate();
    let data: Vec<Value> = inputs
        .map(|(index, text)| json!({"index": index, "embedding": subjects(text.as_str().unwrap())}))
        .collect();
    Ok(Response::new(200).with_json(&json!({"data": data})))
}

impl World {
    fn embedding(&self) -> Host {
        self.host()
            .config("embeddings", json!({"url": URL, "model": "m"}))
            .http("POST", URL, answer)
            .reads("POST")
    }
}

fn found(host: &Host, params: Value) -> Vec<String> {
    ids(&host.call(&Memories, "search", params).unwrap().data)
}

#[test]
fn semantic_search_needs_no_common_word() {
    let world = World::with(&["Drinks tea", "Plays jazz", "Goes by train"]);
    let host = world.embedding();
    let embedded = host.call(&Memories, "embed", json!({})).unwrap();
    assert_eq!(embedded.data, json!({"embedded": 3, "left": 0}));
    assert_eq!(found(&host, json!({"query": "beverage"})), ["m_0001"]);
    assert_eq!(found(&host, json!({"query": "tunes", "mode": "meaning"}))[0], "m_0002");
    assert_eq!(found(&host, json!({"query": "tunes", "mode": "words"})), [""; 0]);
    // Words and meaning together are more than either.
    assert_eq!(found(&host, json!({"query": "a journey with jazz"}))[..2], ["m_0002", "m_0003"]);
}

#[test]
fn only_those_without_a_vector_are_sent() {
    let world = World::with(&["Drinks tea", "Plays jazz"]);
    let host = world.embedding();
    host.call(&Memories, "embed", json!({"id": "m_0002"})).unwrap();
    let reply = host.call(&Memories, "search", json!({"query": "jazz"})).unwrap();
    let message = "Without a vector: 1. `embed` computes it.";
    assert_eq!((ids(&reply.data), reply.message.as_deref()), (vec!["m_0002".to_owned()], Some(message)));
    host.call(&Memories, "embed", json!({})).unwrap();
    host.call(&Memories, "embed", json!({})).unwrap();
    let sent: Vec<Value> = host
        .sent()
        .iter()
        .map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()["input"].clone())
        .collect();
    assert_eq!(sent, [json!(["Plays jazz\n\n"]), json!(["jazz"]), json!(["Drinks tea\n\n"])]);
}

#[test]
fn semantic_search_finds_new_and_changed_memories() {
    let world = World::default();
    let host = world.embedding();
    host.call(&Memories, "add", json!({"title": "Drinks tea"})).unwrap();
    assert_eq!(found(&host, json!({"query": "thirst", "mode": "meaning"})), ["m_0001"]);
    host.call(&Memories, "update", json!({"id": "m_0001", "title": "Plays jazz"})).unwrap();
    let scores = |query: &str| {
        let reply = host.call(&Memories, "search", json!({"query": query, "mode": "meaning"})).unwrap();
        reply.data[0]["score"].as_f64().unwrap()
    };
    assert!(scores("tune") > 0.9 && scores("thirst") < 0.1);
}

#[test]
fn memories_are_stored_without_the_endpoint() {
    let world = World::default();
    let down = |_: &http::Request| Ok(Response::new(503));
    let host = world
        .host()
        .config("embeddings", json!({"url": URL, "model": "m"}))
        .http("POST", URL, down)
        .reads("POST");
    let added = host.call(&Memories, "add", json!({"title": "Drinks tea"})).unwrap();
    insta::assert_snapshot!(added.message.unwrap());
    let reply = host.call(&Memories, "search", json!({"query": "tea"})).unwrap();
    assert_eq!(ids(&reply.data), ["m_0001"]);
    insta::assert_snapshot!(reply.message.unwrap());
    assert_eq!(host.call(&Memories, "embed", json!({})).unwrap_err().code, "unavailable");
}

#[test]
fn the_built_in_model_needs_no_endpoint() {
    let world = World::with(&["Drinks green tea", "Rent is due on the third", "Boiler was serviced in May"]);
    let found = |query: &str| ids(&world.reply("search", json!({"query": query})).unwrap().data);
    assert_eq!(found("favourite beverage")[0], "m_0001");
    assert_eq!(found("maintenance of the heating")[0], "m_0003");
    assert_eq!(found("rent")[0], "m_0002");
    world.data("update", json!({"id": "m_0001", "title": "Afraid of dogs"}));
    assert_eq!(found("scared of the puppy")[0], "m_0001");
    assert_eq!(world.data("search", json!({"query": "beverage", "mode": "words"})), json!([]));
}

/// As in the state of a version without the model, or after an endpoint was removed.
#[test]
fn missing_built_in_vectors_are_computed_by_embed() {
    let world = World::default();
    let host = world.embedding();
    host.call(&Memories, "add", json!({"title": "Drinks tea"})).unwrap();
    let reply = world.reply("search", json!({"query": "beverage"})).unwrap();
    let message = "Without a vector: 1. `embed` computes it.";
    assert_eq!((ids(&reply.data), reply.message.as_deref()), (vec![], Some(message)));
    assert_eq!(world.data("embed", json!({})), json!({"embedded": 1, "left": 0}));
    assert_eq!(world.ids("search", json!({"query": "beverage"})), ["m_0001"]);
}

#[test]
fn vectors_of_many_rows_are_written_in_parts() {
    let world = World::default();
    let long = |request: &http::Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let count = body["input"].as_array().unwrap().len();
        let vector = vec![1; 8192];
        let data: Vec<Value> = (0..count).map(|index| json!({"index": index, "embedding": vector})).collect();
        Ok(Response::new(200).with_json(&json!({"data": data})))
    };
    let plain = world.host();
    for number in 0..416 {
        plain.call(&Memories, "add", json!({"title": format!("t{number}")})).unwrap();
    }
    let host = plain
        .config("embeddings", json!({"url": URL, "model": "long"}))
        .http("POST", URL, long)
        .reads("POST");
    host.call(&Memories, "embed", json!({})).unwrap();
    host.call(&Memories, "embed", json!({})).unwrap();
    // One in each row changed while the endpoint was unavailable.
    let plain = world.host();
    for number in (1..=416).step_by(32) {
        plain.call(&Memories, "update", json!({"id": format!("m_{number:04}"), "title": "new"})).unwrap();
    }
    assert_eq!(host.call(&Memories, "embed", json!({})).unwrap().data, json!({"embedded": 13, "left": 0}));
}
