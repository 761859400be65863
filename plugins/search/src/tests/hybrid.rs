//! `hybrid`.

use loggia_sdk::http::Response;

use super::*;

#[test]
fn all_sources_make_one_list() {
    let levels = [Detail::Minimal, Detail::Standard, Detail::Full];
    let query = json!({"query": "Etna volcano"});
    let lists: Vec<_> = levels
        .map(|level| shown(&world().detail(level).call(&Search, "hybrid", query.clone()).unwrap()))
        .into();
    insta::assert_snapshot!(lists.join("\n\n"));
}

#[test]
fn each_source_gets_its_own_request() {
    let host = world();
    host.call(&Search, "hybrid", json!({"query": "The highest volcanoes?", "limit": 30})).unwrap();
    let asked: Vec<_> = host
        .requests()
        .iter()
        .map(|request| {
            format!("{}.{} {}", request.facade, request.action, Value::Object(request.params.clone()))
        })
        .collect();
    insta::assert_snapshot!(asked.join("\n"));
}

#[test]
fn only_requested_sources_are_called_once_each() {
    let host = world();
    let params = json!({"query": "etna", "sources": ["conversations", "memories", "memories"]});
    let found = host.call(&Search, "hybrid", params).unwrap().data;
    assert_eq!(names(&found), ["conversations c_0004", "memories m_0007", "memories m_0002"]);
    assert_eq!(host.requests().len(), 2);
}

#[test]
fn the_limit_is_that_of_the_one_list() {
    let found = world().call(&Search, "hybrid", json!({"query": "etna volcano", "limit": 2})).unwrap();
    assert_eq!((found.data.as_array().unwrap().len(), found.page), (2, Some(Page::of(2))));
}

#[test]
fn a_text_in_two_sources_is_listed_once() {
    let found = world().call(&Search, "hybrid", json!({"query": "Etna volcano"})).unwrap().data;
    let same: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .filter(|hit| hit["text"].as_str().unwrap().contains("highest"))
        .map(|hit| (hit["source"].clone(), hit["also"].clone()))
        .collect();
    assert_eq!(
        same,
        [(
            json!("files"),
            json!(["knowledge k_0001, Nature > Volcanoes, passage 3, https://example.com/sicily"])
        )]
    );
}

#[test]
fn one_thing_does_not_fill_the_list() {
    let lines = |_: &Object| {
        let line = |number| json!({"path": "/a.md", "line": number, "text": format!("milk {number} and {}", "x".repeat(number))});
        let mut lines: Vec<_> = (1..=9).map(line).collect();
        lines.push(json!({"path": "/b.md", "line": 1, "text": "bread, or milk"}));
        Ok(Reply::new(json!(lines)))
    };
    let host = Host::new().answer("files", "search", lines);
    let found = host.call(&Search, "hybrid", json!({"query": "milk", "sources": ["files"]})).unwrap().data;
    let mut names = names(&found);
    names.sort();
    assert_eq!(names, ["files /a.md", "files /a.md", "files /a.md", "files /b.md"]);
}

#[test]
fn failing_sources_are_skipped_with_their_reasons() {
    let host = Host::new()
        .answer("memories", "search", |_| Ok(Reply::new(json!([{"id": "m_0001", "title": "Milk"}]))))
        .answer("conversations", "search", |_| Err(Failure::timed_out("timed out")))
        .answer("files", "search", |_| Err(Failure::internal("x".repeat(1000))));
    let reply = host.call(&Search, "hybrid", json!({"query": "milk"})).unwrap();
    assert_eq!(names(&reply.data), ["memories m_0001"]);
    let message = reply.message.unwrap().replace(&"x".repeat(159), "(x × 159)");
    assert_eq!(
        message,
        "Passed over: knowledge (access denied: the policy does not grant `invoke` of `knowledge:search`), \
         conversations (timed out), files ((x × 159)…)."
    );
}

#[test]
fn searches_without_matches_are_reported() {
    let none = |_: &Object| Ok(Reply::new(json!([])));
    let host = Host::new().answer("memories", "search", none).answer("files", "search", none);
    let found = |query: &str| {
        let reply =
            host.call(&Search, "hybrid", json!({"query": query, "sources": ["memories", "files"]})).unwrap();
        (reply.data, reply.message)
    };
    let expected = (json!([]), Some("Nothing was found: other words may be there.".to_owned()));
    assert_eq!(found("milk"), expected);
    assert_eq!(found("?!"), expected, "files is not asked for no words");
    assert_eq!(host.requests().len(), 3);
}

#[test]
fn semantic_search_is_used_if_configured() {
    let embeddings = |request: &loggia_sdk::http::Request| {
        let body: Value = loggia_sdk::serde_json::from_slice(&request.body).unwrap();
        let input = body["input"].as_array().unwrap();
        let vector = |text: &Value| {
            let near = text.as_str().unwrap().contains("oven") || text == "etna volcano";
            if near { json!([1.0, 0.0]) } else { json!([0.0, 1.0]) }
        };
        let data: Vec<_> = input
            .iter()
            .enumerate()
            .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
            .collect();
        Ok(Response::new(200).with_json(&json!({"data": data})))
    };
    let url = "https://models.example.com/v1/embeddings";
    let configured = || world().config("embeddings", json!({"url": url, "model": "small"}));
    let place = |host: Host| {
        let found = host.call(&Search, "hybrid", json!({"query": "etna volcano"})).unwrap();
        (names(&found.data).iter().position(|name| name == "files /notes/bread.md").unwrap(), found.message)
    };
    let (with, message) = place(configured().http("POST", url, embeddings).reads("POST"));
    assert_eq!(message, None);
    let (failing, message) = place(configured().http("POST", url, |_| Ok(Response::new(500))).reads("POST"));
    assert!(with < failing, "{with} < {failing}");
    assert_eq!(
        message.unwrap(),
        "Passed over: meaning (not available now: models.example.com answered 500)."
    );
}
