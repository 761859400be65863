//! `semantic`.

use loggia_sdk::http::{Request, Response};

use super::*;

const URL: &str = "https://models.example.com/v1/embeddings";

/// Directions by subject: mountains, food, others.
fn embeddings(request: &Request) -> Result<Response> {
    let body: Value = loggia_sdk::serde_json::from_slice(&request.body)?;
    let vector = |text: &Value| {
        let has = |words: &[&str]| {
            f32::from(u8::from(words.iter().any(|word| text.as_str().unwrap().contains(word))))
        };
        json!([has(&["Etna", "mountain"]), has(&["oven", "bread"]), 0.1])
    };
    let input = body["input"].as_array().unwrap().iter().enumerate();
    let data: Vec<_> =
        input.map(|(index, text)| json!({"index": index, "embedding": vector(text)})).collect();
    Ok(Response::new(200).with_json(&json!({"data": data})))
}

fn meant() -> Host {
    world()
        .config("embeddings", json!({"url": URL, "model": "small"}))
        .http("POST", URL, embeddings)
        .reads("POST")
}

#[test]
fn all_sources_share_one_scale() {
    let host = meant();
    let reply = host.call(&Search, "semantic", json!({"query": "climbing a mountain"})).unwrap();
    insta::assert_snapshot!(shown(&reply));
    assert_eq!(host.sent().len(), 1, "query and candidates go together");
}

#[test]
fn semantic_matches_come_first() {
    let first = |query: &str| {
        names(&meant().call(&Search, "semantic", json!({"query": query})).unwrap().data)[0].clone()
    };
    assert_eq!(first("how to bake bread"), "files /notes/bread.md");
    assert_ne!(first("a mountain"), "files /notes/bread.md");
}

#[test]
fn without_an_endpoint_the_built_in_model_ranks() {
    let host = world();
    let first = |query: &str| {
        names(&host.call(&Search, "semantic", json!({"query": query})).unwrap().data)[0].clone()
    };
    assert_eq!(first("how to bake a loaf"), "files /notes/bread.md");
    assert_ne!(first("climbing a volcano"), "files /notes/bread.md");
    assert!(host.sent().is_empty());
}

#[test]
fn an_endpoint_that_fails_is_a_failure_here() {
    let host = world().config("embeddings", json!({"url": URL, "model": "small"}));
    let host = host.http("POST", URL, |_| Ok(Response::new(503))).reads("POST");
    let failure = host.call(&Search, "semantic", json!({"query": "x"})).unwrap_err();
    assert_eq!(failure.to_string(), "unavailable: not available now: models.example.com answered 503");
}

#[test]
fn without_matches_nothing_is_sent() {
    let host = Host::new().config("embeddings", json!({"url": URL, "model": "small"})).answer(
        "memories",
        "search",
        |_| Ok(Reply::new(json!([]))),
    );
    let reply = host.call(&Search, "semantic", json!({"query": "x", "sources": ["memories"]})).unwrap();
    assert_eq!((reply.data, host.sent().len()), (json!([]), 0));
}
