//! Vectors, with valid and malformed responses of the endpoint.

use loggia_sdk::{
    http::{self, Response},
    prelude::*,
    testing::{Host, Store},
};

use crate::{Embedder, Vector, Vectors};

static VECTORS: Vectors = Vectors::new("vectors");
const URL: &str = "https://embed.example.com/v1/embeddings";

fn host(model: &str, answer: impl Fn(&Value) -> Value + 'static) -> Host {
    let answer = move |request: &http::Request| {
        let body = serde_json::from_slice(&request.body).expect("JSON");
        Ok(Response::new(200).with_json(&answer(&body)))
    };
    Host::new()
        .config("embeddings", json!({"url": URL, "model": model, "dimensions": 3}))
        .http("POST", URL, answer)
}

/// A direction for each text: its numbers of `a`, `b` and `c`.
fn letters(body: &Value) -> Value {
    let count = |text: &Value, letter: &str| text.as_str().unwrap().matches(letter).count();
    let inputs = body["input"].as_array().unwrap().iter().enumerate();
    let data: Vec<Value> = inputs
        .map(|(index, text)| {
            let counts = ["a", "b", "c"].map(|letter| count(text, letter));
            json!({"index": index, "embedding": counts})
        })
        // The order is not guaranteed.
        .rev()
        .collect();
    json!({"data": data})
}

#[test]
fn texts_are_batched_and_vectors_stay_in_order() {
    let host = host("letters", letters);
    let texts: Vec<String> = (1..=70).map(|n| ["a".repeat(n), "b".into()].concat()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = host.run(|| Embedder::configured()?.embed(&texts)).unwrap();
    let expected: Vec<Vector> = (1..=70).map(|n| Vector::new(&[n as f32, 1.0, 0.0]).unwrap()).collect();
    assert_eq!(vectors, expected);
    let sent = host.sent();
    let body: Value = serde_json::from_slice(&sent[2].body).unwrap();
    assert_eq!((sent.len(), body["input"].as_array().unwrap().len()), (3, 6));
    assert_eq!((&body["model"], &body["dimensions"]), (&json!("letters"), &json!(3)));
}

#[test]
fn nearest_neighbours_are_ranked_within_one_model() {
    let store = Store::new();
    let host = host("letters", letters).store(&store);
    let keep = || -> Result<Vec<(u32, f32)>> {
        let embedder = Embedder::configured()?;
        let texts = [(7, "aaa"), (8, "ab"), (9, "c")];
        let vectors = embedder.embed(&texts.map(|(_, text)| text))?;
        let numbered: Vec<_> = texts.iter().map(|(number, _)| *number).zip(vectors).collect();
        state::transaction(|tx| VECTORS.put(tx, &embedder, &numbered))?;
        let query = embedder.embed(&["aa"])?.remove(0);
        Ok(VECTORS.nearest(&embedder, &query)?.iter().map(|hit| (hit.number, hit.score)).collect())
    };
    let hits = host.run(keep).unwrap();
    assert_eq!(hits.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [7, 8, 9]);
    for ((_, score), expected) in hits.iter().zip([1.0, 0.707, 0.0]) {
        assert!((score - expected).abs() < 0.01, "{score}, not {expected}");
    }
    let numbers = |host: &Host| {
        host.run(|| VECTORS.numbers(&Embedder::configured()?)).unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(numbers(&host), [7, 8, 9]);
    host.run(|| state::transaction(|tx| VECTORS.remove(tx, &[8, 100]))).unwrap();
    assert_eq!(numbers(&host), [7, 9]);
    assert_eq!(numbers(&self::host("another", letters).store(&store)), [0; 0]);
}

#[test]
fn malformed_endpoint_responses_are_reported() {
    let check = |answer: Value, expected: &str| {
        let failure = host("m", move |_| answer.clone())
            .run(|| Embedder::configured()?.embed(&["a", "b"]))
            .unwrap_err();
        assert!(failure.message.contains(expected), "{failure}");
    };
    check(json!({"data": [{"index": 0, "embedding": [1]}]}), "1 for 2 texts");
    check(
        json!({"data": [{"index": 0, "embedding": [1]}, {"index": 5, "embedding": [1]}]}),
        "that was not sent",
    );
    check(json!({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}), "no direction");
    check(
        json!({"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [0, 0]}]}),
        "no direction",
    );
    check(json!({"error": "no such model"}), "no list `data`");
}

#[test]
fn without_an_endpoint_the_built_in_model_is_used() {
    let host = Host::new().store(&Store::new());
    let found = host.run(|| {
        let texts = [(1, "Drinks green tea"), (2, "Deploys on Thursdays"), (3, "привет")];
        state::transaction(|tx| VECTORS.follow(tx, &texts))?;
        let embedder = Embedder::configured()?;
        let query = embedder.embed(&["favourite beverage"])?.remove(0);
        assert_eq!(VECTORS.numbers(&embedder)?.len(), 3, "also of a text without known words");
        VECTORS.nearest(&embedder, &query)
    });
    let found = found.unwrap();
    assert!(found[0].number == 1 && found[0].score > 0.4, "{found:?}");
    assert!(found.iter().all(|hit| hit.number != 3 || hit.score == 0.0), "{found:?}");
}

#[test]
fn an_endpoint_is_asked_after_the_transaction() {
    let host = host("m", letters).store(&Store::new());
    host.run(|| state::transaction(|tx| VECTORS.follow(tx, &[(1, "a")]))).unwrap();
    assert_eq!(host.sent().len(), 0);
    let malformed = Host::new().config("embeddings", json!({"url": URL, "mode": "m"}));
    assert_eq!(malformed.run(Embedder::configured).unwrap_err().code, "internal");
}

#[test]
fn endpoint_errors_are_reported_with_a_hint() {
    let check = |status: u16, expected: &str| {
        let host = Host::new().config("embeddings", json!({"url": URL, "model": "m"})).http(
            "POST",
            URL,
            move |_| Ok(Response::new(status)),
        );
        let failure = host.run(|| Embedder::configured()?.embed(&["text"])).unwrap_err();
        assert!(failure.hint.as_deref().unwrap_or_default().contains(expected), "{status}");
    };
    check(400, "config.embeddings.longest");
    check(413, "config.embeddings.longest");
    check(401, "secrets");
    check(404, "the url, the model");
    check(503, "");
}

#[test]
fn texts_are_truncated_to_the_configured_length() {
    let host = host("letters", letters).config("embeddings", json!({"url": URL, "model": "m", "longest": 8}));
    host.run(|| Embedder::configured()?.embed(&["abäöüc"])).unwrap();
    let body: Value = serde_json::from_slice(&host.sent()[0].body).unwrap();
    assert_eq!(body["input"], json!(["abäöü"]));
}
