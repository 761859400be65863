//! Vectors, from an endpoint that answers well and from others.

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

/// A direction for each text: how many `a`, `b` and `c` it has.
fn letters(body: &Value) -> Value {
    let count = |text: &Value, letter: &str| text.as_str().unwrap().matches(letter).count();
    let inputs = body["input"].as_array().unwrap().iter().enumerate();
    let data: Vec<Value> = inputs
        .map(|(index, text)| {
            let counts = ["a", "b", "c"].map(|letter| count(text, letter));
            json!({"index": index, "embedding": counts})
        })
        // Nobody promises an order.
        .rev()
        .collect();
    json!({"data": data})
}

#[test]
fn texts_are_sent_in_batches_and_their_vectors_come_in_order() {
    let host = host("letters", letters);
    let texts: Vec<String> = (1..=70).map(|n| ["a".repeat(n), "b".into()].concat()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = host.run(|| Embedder::required()?.embed(&texts)).unwrap();
    let expected: Vec<Vector> = (1..=70).map(|n| Vector::new(&[n as f32, 1.0, 0.0]).unwrap()).collect();
    assert_eq!(vectors, expected);
    let sent = host.sent();
    let body: Value = serde_json::from_slice(&sent[2].body).unwrap();
    assert_eq!((sent.len(), body["input"].as_array().unwrap().len()), (3, 6));
    assert_eq!((&body["model"], &body["dimensions"]), (&json!("letters"), &json!(3)));
}

#[test]
fn the_nearest_come_first_and_only_those_of_the_same_model() {
    let store = Store::new();
    let host = host("letters", letters).store(&store);
    let keep = || -> Result<Vec<(u32, f32)>> {
        let embedder = Embedder::required()?;
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
        host.run(|| VECTORS.numbers(&Embedder::required()?)).unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(numbers(&host), [7, 8, 9]);
    host.run(|| state::transaction(|tx| VECTORS.remove(tx, &[8, 100]))).unwrap();
    assert_eq!(numbers(&host), [7, 9]);
    assert_eq!(numbers(&self::host("another", letters).store(&store)), [0; 0]);
}

#[test]
fn an_endpoint_that_answers_nonsense_is_told_as_such() {
    let check = |answer: Value, expected: &str| {
        let failure =
            host("m", move |_| answer.clone()).run(|| Embedder::required()?.embed(&["a", "b"])).unwrap_err();
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
fn without_an_endpoint_the_operator_is_told_what_to_write() {
    let failure = Host::new().run(Embedder::required).unwrap_err();
    insta::assert_snapshot!(format!("{failure}\n{}", failure.hint.as_deref().unwrap_or_default()));
    assert!(Host::new().run(Embedder::configured).unwrap().is_none());
    let host = Host::new().config("embeddings", json!({"url": URL, "mode": "m"}));
    assert_eq!(host.run(Embedder::configured).unwrap_err().code, "internal");
}

#[test]
fn what_the_endpoint_refuses_is_told_with_what_helps() {
    let check = |status: u16, expected: &str| {
        let host = Host::new().config("embeddings", json!({"url": URL, "model": "m"})).http(
            "POST",
            URL,
            move |_| Ok(Response::new(status)),
        );
        let failure = host.run(|| Embedder::required()?.embed(&["text"])).unwrap_err();
        assert!(failure.hint.as_deref().unwrap_or_default().contains(expected), "{status}");
    };
    check(400, "config.embeddings.longest");
    check(413, "config.embeddings.longest");
    check(401, "secrets");
    check(404, "the url, the model");
    check(503, "");
}

#[test]
fn only_so_much_of_a_text_is_sent_as_the_operator_says() {
    let host = host("letters", letters).config("embeddings", json!({"url": URL, "model": "m", "longest": 8}));
    host.run(|| Embedder::required()?.embed(&["abäöüc"])).unwrap();
    let body: Value = serde_json::from_slice(&host.sent()[0].body).unwrap();
    assert_eq!(body["input"], json!(["abäöü"]));
}
